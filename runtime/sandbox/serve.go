package sandbox

// A child is served before the packages that the program is made of besides are initialised,
// which takes longer than all that a child does. Nothing else comes of importing this package.
//
//nolint:gochecknoinits // RATIONALE.md, "Why do two packages act in init?"
func init() { serveIfChild() }
