package fs

// similar looks for the place where most of the text stands line by line, or else for the
// line that begins and ends most like its longest line.
func similar(lines, want []string) (int, bool) {
	places := map[string][]int{}
	for i, line := range want {
		if line = withoutBlanks(line); line != "" && len(places[line]) < 16 {
			places[line] = append(places[line], i)
		}
	}
	votes, best := map[int]int{}, -1
	for i, line := range lines {
		line = withoutBlanks(line)
		for _, offset := range places[line] {
			at := i - offset
			votes[at] += len(line)
			if at >= 0 && (best < 0 || votes[at] > votes[best]) {
				best = at
			}
		}
	}
	if best >= 0 {
		return best, true
	}
	return similarLine(lines, want)
}

func similarLine(lines, want []string) (int, bool) {
	offset := 0
	for i := range want {
		if len(withoutBlanks(want[i])) > len(withoutBlanks(want[offset])) {
			offset = i
		}
	}
	longest := withoutBlanks(want[offset])
	best, most := -1, len(longest)/2
	for i := offset; i < len(lines); i++ {
		if score := sharedEnds(withoutBlanks(lines[i]), longest); score > most {
			best, most = i-offset, score
		}
	}
	return best, best >= 0
}

// sharedEnds is how many bytes two lines have in common at their beginning and end.
func sharedEnds(a, b string) int {
	most, head, tail := min(len(a), len(b)), 0, 0
	for head < most && a[head] == b[head] {
		head++
	}
	for tail < most-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head + tail
}
