// Package names holds the grammar of names that several packages must agree on.
package names

// Capability is the regular expression of a capability's name, without anchors:
// lower-case letters, digits and hyphens, at most 64, not beginning with a hyphen.
const Capability = `[a-z0-9][a-z0-9-]{0,63}`
