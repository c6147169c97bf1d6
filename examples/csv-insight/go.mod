module csv-insight

go 1.26.0

require github.com/aircoding/air/sdk/go v0.0.0

// The SDK of this repository, so that the example builds from a clean clone before
// anything is published. A capability made by `air new` carries a copy instead.
replace github.com/aircoding/air/sdk/go => ../../sdk/go
