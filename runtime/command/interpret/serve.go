package interpret

// The interpreter is served before the packages that the program is made of besides are
// initialised, which takes longer than a short command line, see package sandbox.
func init() { ServeIfShell() }
