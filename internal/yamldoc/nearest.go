package yamldoc

import "strings"

// Nearest returns the known name that a mistaken one probably stands for, "" when
// none is near.
func Nearest(wrong string, known []string) string {
	if len(wrong) > 100 {
		return ""
	}
	best, nearest := max(2, len(wrong)/3)+1, ""
	for _, name := range known {
		if d := distance(fold(wrong), fold(name)); d < best {
			best, nearest = d, name
		}
	}
	return nearest
}

// fold makes camelCase, kebab-case and snake_case names meet.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// distance is Levenshtein's: the fewest insertions, removals and changes of a byte.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
