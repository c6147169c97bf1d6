// Command table passes on what benchmarks print, and ends it with a table: each line
// "ratio NAME VALUE" that has a target, beside the target. A target that is missed is no
// error: the machine may have been busy.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	values, err := pass(os.Stdin, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	if err := write(os.Stdout, targets(), values); err != nil {
		log.Fatal(err)
	}
}

// pass copies lines and returns the ratios among them; of two with one name, the last.
func pass(from io.Reader, to io.Writer) (map[string]float64, error) {
	values := map[string]float64{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if _, err := fmt.Fprintln(to, lines.Text()); err != nil {
			return nil, err
		}
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[0] != "ratio" {
			continue
		}
		if v, err := strconv.ParseFloat(fields[2], 64); err == nil {
			values[fields[1]] = v
		}
	}
	return values, lines.Err()
}

func write(to io.Writer, all []target, values map[string]float64) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nNAME\tVALUE\tTARGET\tMET")
	for _, t := range all {
		v, measured := values[t.name]
		shown, met := "-", "not measured"
		if measured {
			shown, met = fmt.Sprintf("%.3f", v), t.met(v)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.name, shown, t.shown(), met)
	}
	return w.Flush()
}

func (t target) met(value float64) string {
	if t.atLeast && value >= t.limit || !t.atLeast && value <= t.limit {
		return "yes"
	}
	return "no"
}

func (t target) shown() string {
	if t.atLeast {
		return fmt.Sprintf(">= %.3f", t.limit)
	}
	return fmt.Sprintf("<= %.3f", t.limit)
}
