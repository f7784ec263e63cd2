// Package sarif has the parts of the Static Analysis Results Interchange Format 2.1.0
// that the checks write: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
package sarif

// Log is a document.
type Log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []Run  `json:"runs"`
}

// New makes a document of one run.
func New(run Run) Log {
	return Log{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []Run{run}}
}

// Run is what a tool has found.
type Run struct {
	Tool        Tool           `json:"tool"`
	Automation  *Automation    `json:"automationDetails,omitzero"`
	Invocations []Invocation   `json:"invocations,omitzero"`
	Results     []Result       `json:"results"`
	Properties  map[string]any `json:"properties,omitzero"`
}

// Automation names a series of runs.
type Automation struct {
	ID string `json:"id"`
}

// Tool is what made a run.
type Tool struct {
	Driver Driver `json:"driver"`
}

// Driver is a tool without its extensions, and the rules that it has found broken.
type Driver struct {
	Name           string `json:"name"`
	FullName       string `json:"fullName,omitzero"`
	Version        string `json:"version,omitzero"`
	InformationURI string `json:"informationUri,omitzero"`
	Rules          []Rule `json:"rules"`
}

// Rule is what results are about.
type Rule struct {
	ID         string            `json:"id"`
	Short      Text              `json:"shortDescription"`
	Help       Text              `json:"help"`
	HelpURI    string            `json:"helpUri,omitzero"`
	Default    Configuration     `json:"defaultConfiguration"`
	Properties map[string]string `json:"properties,omitzero"`
}

// Configuration is how bad it is to break a rule.
type Configuration struct {
	Level string `json:"level"` // error, warning or note
}

// Text is a message.
type Text struct {
	Text string `json:"text"`
}

// Invocation says how a run went.
type Invocation struct {
	Successful    bool           `json:"executionSuccessful"`
	Start         string         `json:"startTimeUtc"`
	Notifications []Notification `json:"toolExecutionNotifications,omitzero"`
}

// Notification says what went wrong in it.
type Notification struct {
	Level   string `json:"level"`
	Message Text   `json:"message"`
}

// Result is a place where a rule is broken.
type Result struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"` // among those of the driver
	Level        string            `json:"level"`
	Message      Text              `json:"message"`
	Locations    []Location        `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Suppressions []Suppression     `json:"suppressions,omitzero"`
	Properties   map[string]any    `json:"properties,omitzero"`
}

// Suppression says why a result is accepted.
type Suppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

// Accepted are the suppressions of a result that is accepted for a reason; none for
// "".
func Accepted(reason string) []Suppression {
	if reason == "" {
		return nil
	}
	return []Suppression{{Kind: "external", Justification: reason}}
}

// Location is where a result is: in a file, which code scanning needs, and by a name.
type Location struct {
	Physical Physical  `json:"physicalLocation"`
	Logical  []Logical `json:"logicalLocations"`
}

// Physical is a place in a file.
type Physical struct {
	Artifact Artifact `json:"artifactLocation"`
	Region   *Region  `json:"region,omitzero"`
}

// Artifact is a file.
type Artifact struct {
	URI string `json:"uri"`
}

// Region is a part of a file.
type Region struct {
	StartLine int `json:"startLine"`
}

// Logical is a place by its name.
type Logical struct {
	Name string `json:"name,omitzero"`
	Full string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}
