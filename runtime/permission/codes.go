package permission

import "slices"

// Codes are the stable names of refusals and questions. Codes (the table) says what
// each means; documentation is tested against it.
const (
	CodeFloorAirHome    = "floor_air_home"
	CodeFloorShared     = "floor_shared"
	CodeFloorBinary     = "floor_binary"
	CodeFloorDevice     = "floor_device"
	CodeFloorCredential = "floor_credential"
	CodeFloorUnresolved = "floor_unresolved"

	CodeProfileCeiling    = "profile_ceiling"
	CodeCapabilityCeiling = "capability_ceiling"

	CodeCredentialsFlow = "credentials_flow"

	CodeDeniedByRule   = "denied_by_rule"
	CodeProtectedPath  = "protected_path"
	CodeDeniedByPerson = "denied_by_person"

	CodeAskedByRule        = "asked_by_rule"
	CodeNotConsented       = "not_consented"
	CodeOverwrite          = "overwrite"
	CodeReadOnlyMode       = "read_only_mode"
	CodeObeyedFile         = "obeyed_file"
	CodeOutsideProject     = "outside_project"
	CodeDangerousPath      = "dangerous_path"
	CodeSystemPath         = "system_path"
	CodeCredentials        = "credentials"
	CodeApprovalRequired   = "approval_required"
	CodeNetworkCommand     = "network_command"
	CodeDestructiveCommand = "destructive_command"
	CodePrivilegedCommand  = "privileged_command"
	CodeOpaqueCommand      = "opaque_command"
	CodePrivateAddress     = "private_address"
	CodeNoSandbox          = "no_sandbox"

	CodeBadPath      = "bad_path"
	CodeDanglingLink = "dangling_link"
	CodeMagicLink    = "magic_link"
	CodeUnknownLinks = "unknown_links"
)

// CodeMeaning is one row of the table of codes.
type CodeMeaning struct {
	Code    string
	Verdict Verdict
	Meaning string
}

// Codes lists every code with what it stands for.
func Codes() []CodeMeaning { return slices.Clone(codes) }

// meaning is what the table says about a code.
func meaning(code string) string {
	for i := range codes {
		if codes[i].Code == code {
			return codes[i].Meaning
		}
	}
	return code
}

var codes = []CodeMeaning{
	{CodeFloorAirHome, Deny, "air's own files: only air itself writes them, and only this session's artifacts can be read, by a capability with artifact.read alone"},
	{CodeFloorShared, Deny, "the project's .air folder: people change it, tools do not"},
	{CodeFloorBinary, Deny, "the air program itself"},
	{CodeFloorDevice, Deny, "a device, pipe, socket or a part of the kernel's file systems"},
	{CodeFloorCredential, Deny, "a capability never gets the bytes of a credential"},
	{CodeFloorUnresolved, Deny, "a path, command or host that was not brought into its one form before it was decided"},
	{CodeProfileCeiling, Deny, "the project's profile does not allow it"},
	{CodeCapabilityCeiling, Deny, "a capability in the chain of callers did not declare it"},
	{CodeCredentialsFlow, Deny, "a credential was used in this session: until it ends nothing goes out by the network, unless a rule of a person names the pair"},
	{CodeDeniedByRule, Deny, "a deny rule matched"},
	{CodeProtectedPath, Deny, "version control's own files, environment files, private keys and key stores"},
	{CodeDeniedByPerson, Deny, "a person refused it"},
	{CodeAskedByRule, Ask, "an ask rule matched"},
	{CodeNotConsented, Ask, "the capability was not enabled here, or enabling it did not cover this"},
	{CodeOverwrite, Ask, "it would replace or delete an existing file of the project"},
	{CodeReadOnlyMode, Ask, "the mode read-only asks before every write"},
	{CodeObeyedFile, Ask, "other programs execute or obey this file"},
	{CodeOutsideProject, Ask, "the path lies outside the project"},
	{CodeDangerousPath, Ask, "the path lies outside the project, and other programs execute or obey what is there"},
	{CodeSystemPath, Ask, "it would change the system"},
	{CodeCredentials, Ask, "the path holds credentials"},
	{CodeApprovalRequired, Ask, "effects of this kind are asked about"},
	{CodeNetworkCommand, Ask, "the command needs the network"},
	{CodeDestructiveCommand, Ask, "the command may lose what nothing brings back"},
	{CodePrivilegedCommand, Ask, "the command reaches beyond the project"},
	{CodeOpaqueCommand, Ask, "what the command does cannot be known before it runs"},
	{CodePrivateAddress, Ask, "the host is this machine, or on a private network"},
	{CodeNoSandbox, Ask, "this machine has no sandbox to run the command in: nothing but its analysis bounds it"},
	{CodeBadPath, Deny, "the path cannot be understood"},
	{CodeDanglingLink, Deny, "a write through a symbolic link to something that does not exist"},
	{CodeMagicLink, Deny, "a link into a process, below /proc"},
	{CodeUnknownLinks, Deny, "a file with several names (hard links), and too much to look through to see whether a protected file is among them"},
}
