package engine

// serveOnLinux turns the process into what tests of this system alone start.
func serveOnLinux() {
	serveIfInstaller()
	serveIfEscaping()
}
