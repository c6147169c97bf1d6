package config

import (
	"fmt"

	"github.com/spf13/viper"
)

// Budgets limit what calls use in one session, together and by capability.
type Budgets struct {
	Session, Capability Budget
}

// Budget is one limit for each of what is counted; 0 where the file sets none, which
// means the default.
type Budget struct {
	Calls       int64
	BytesOut    int64
	WallSeconds int64
}

// fileBudget is a budget in config.yaml.
type fileBudget struct {
	Calls       *int64 `json:"calls,omitempty"`
	BytesOut    *int64 `json:"bytes_out,omitempty"`
	WallSeconds *int64 `json:"wall_seconds,omitempty"`
}

// No limit can be switched off: a budget of 0 could be read as none or as no limit. What
// is beyond these is a slip of the finger.
const (
	maxCount = 1 << 50
	maxWall  = 10 * 365 * 24 * 60 * 60
)

func (f *file) checkBudgets(path string) error {
	if f.Budgets == nil {
		return nil
	}
	for _, group := range []struct {
		name   string
		budget *fileBudget
	}{{"session", f.Budgets.Session}, {"capability", f.Budgets.Capability}} {
		if group.budget == nil {
			continue
		}
		if err := group.budget.check(); err != nil {
			return invalid("%s: budgets.%s.%w", path, group.name, err).WithHint("leave the key out for the default; there is no value for no limit")
		}
	}
	return nil
}

func (b *fileBudget) check() error {
	for _, limit := range []struct {
		key   string
		value *int64
		most  int64
	}{{"calls", b.Calls, maxCount}, {"bytes_out", b.BytesOut, maxCount}, {"wall_seconds", b.WallSeconds, maxWall}} {
		if v := limit.value; v != nil && (*v < 1 || *v > limit.most) {
			return fmt.Errorf("%s is %d: a number from 1 to %d is wanted", limit.key, *v, limit.most)
		}
	}
	return nil
}

// budgets come from the file alone: a repository can bring along an environment.
func budgets(v *viper.Viper) Budgets {
	return Budgets{Session: budget(v, "session"), Capability: budget(v, "capability")}
}

func budget(v *viper.Viper, group string) Budget {
	at := "budgets." + group + "."
	return Budget{Calls: v.GetInt64(at + "calls"), BytesOut: v.GetInt64(at + "bytes_out"), WallSeconds: v.GetInt64(at + "wall_seconds")}
}
