module github.com/aircoding/air/sdk/go

go 1.26.0
