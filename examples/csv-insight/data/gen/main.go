//go:build ignore

// This program writes ../timezone-transitions.csv: every change of a clock in the tz
// database within a span of years. Run it in this folder, where the tz database lies
// compiled (Debian: package tzdata):
//
//	go run main.go -zoneinfo /usr/share/zoneinfo -from 2000 -to 2025 > ../timezone-transitions.csv
package main

import (
	"bufio"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var header = []string{
	"zone", "countries", "latitude", "longitude", "comment",
	"transition", "abbreviation", "dst", "offset_before", "offset_after", "change",
}

func main() {
	zoneinfo := flag.String("zoneinfo", "/usr/share/zoneinfo", "the compiled tz database")
	from := flag.Int("from", 2000, "first year")
	to := flag.Int("to", 2025, "last year")
	flag.Parse()
	if err := write(*zoneinfo, *from, *to); err != nil {
		log.Fatal(err)
	}
}

func write(zoneinfo string, from, to int) error {
	zones, err := os.Open(filepath.Join(zoneinfo, "zone1970.tab"))
	if err != nil {
		return err
	}
	defer zones.Close()
	out := csv.NewWriter(os.Stdout)
	if err := out.Write(header); err != nil {
		return err
	}
	lines := bufio.NewScanner(zones)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if err := writeZone(out, zoneinfo, lines.Text(), from, to); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
	}
	out.Flush()
	return lines.Err()
}

// writeZone writes the changes of one zone. A line of zone1970.tab is: countries,
// coordinates, name and perhaps a comment, separated by tabs.
func writeZone(out *csv.Writer, zoneinfo, line string, from, to int) error {
	fields := append(strings.Split(line, "\t"), "")
	latitude, longitude, err := coordinates(fields[1])
	if err != nil {
		return err
	}
	compiled, err := os.ReadFile(filepath.Join(zoneinfo, fields[2]))
	if err != nil {
		return err
	}
	zone, err := time.LoadLocationFromTZData(fields[2], compiled)
	if err != nil {
		return err
	}
	end := time.Date(to+1, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); ; {
		_, next := at.ZoneBounds()
		if next.IsZero() || !next.Before(end) {
			return nil
		}
		_, before := at.Zone()
		abbreviation, after := next.Zone()
		err := out.Write([]string{
			fields[2], fields[0], latitude, longitude, fields[3],
			next.UTC().Format(time.RFC3339), abbreviation, strconv.FormatBool(next.IsDST()),
			strconv.Itoa(before), strconv.Itoa(after), strconv.Itoa(after - before),
		})
		if err != nil {
			return err
		}
		at = next
	}
}

// coordinates turns ±DDMM±DDDMM or ±DDMMSS±DDDMMSS (ISO 6709) into degrees.
func coordinates(iso string) (latitude, longitude string, err error) {
	split := strings.LastIndexAny(iso, "+-")
	if latitude, err = degrees(iso[:split], 2); err != nil {
		return "", "", err
	}
	longitude, err = degrees(iso[split:], 3)
	return latitude, longitude, err
}

func degrees(iso string, digits int) (string, error) {
	whole, err := strconv.Atoi(iso[1 : 1+digits])
	if err != nil {
		return "", err
	}
	rest := (iso[1+digits:] + "00")[:4]
	parts, err := strconv.Atoi(rest)
	if err != nil {
		return "", err
	}
	value := float64(whole) + float64(parts/100)/60 + float64(parts%100)/3600
	if iso[0] == '-' {
		value = -value
	}
	return strconv.FormatFloat(value, 'f', 4, 64), nil
}
