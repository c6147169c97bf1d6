package permission

// floor is the first layer: what nothing opens.
func (e *Engine) floor(r *Request, f *Effect) (Decision, bool) {
	var code string
	switch {
	case f.Kind == Run && !(checkArgv(f.Target) && (f.Also == "" || checkArgv(f.Also))), f.Kind == Net && !checkNet(f):
		code = CodeFloorUnresolved
	case !f.Kind.IsPath():
		return Decision{}, false
	case f.Class == "" || f.Kind == Write:
		code = CodeFloorUnresolved
	case f.Class == ClassForbidden:
		at := f.place(f.Target)
		switch code = e.paths.floor(at, fold(at), f.Kind); {
		case code != "":
		case f.Led:
			code = CodeFloorShared
		default:
			code = CodeFloorDevice
		}
	case len(r.Chain) > 0 && within(f.Target, e.paths.artifacts): // a capability reads those that are its own, by their ids
		code = CodeFloorAirHome
	case f.Class == ClassCredentials && f.Kind == Read && len(r.Chain) > 0:
		code = CodeFloorCredential
	default:
		return Decision{}, false
	}
	return Decision{
		Effect: *f, Layer: LayerFloor, Rule: "floor: " + code, Code: code, Reason: meaning(code),
		Hint: "this cannot be allowed by any rule; do not work around it",
	}, true
}

// profile is the second layer.
func (e *Engine) profile(r *Request, f *Effect) (Decision, bool) {
	if e.options.Profile == nil {
		return Decision{}, false
	}
	reason, denied := e.options.Profile(*r, *f)
	return Decision{
		Effect: *f, Layer: LayerProfile, Rule: "the active profile", Code: CodeProfileCeiling, Reason: reason,
		Hint: "a person changes the profile with air pack",
	}, denied
}
