package permission

// Entry is the effect of reading an entry of a folder, as Resolve fills it in, for a
// canonical path whose last name is no symbolic link: the caller has seen that, in the
// open folder. It does not walk the path, which makes listing a large folder quick, and
// the class is that of the name: what is there may be a pipe or a device, which nobody
// opens, and has a name all the same.
func (p *Paths) Entry(canonical string) (Effect, error) {
	if _, err := p.absolute(canonical); err != nil {
		return Effect{}, err
	}
	return Effect{Kind: Read, Target: canonical, Named: canonical, Class: p.classify(canonical, Read, 0)}, nil
}
