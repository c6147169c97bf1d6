module guest

go 1.26.0

require github.com/aircoding/air/sdk/go v0.0.0

replace github.com/aircoding/air/sdk/go => ../../../sdk/go
