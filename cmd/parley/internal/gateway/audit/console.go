package audit

import "time"

// Change is what somebody has done in the console of the gateway, or was refused.
type Change struct {
	// By is who has done it, and Role what they were there.
	By   string `json:"by"`
	Role string `json:"role,omitzero"`
	// Action is what they did, such as "pins.approve", and Target what to.
	Action string `json:"action"`
	Target string `json:"target,omitzero"`
	// Before and After identify what was there, and what is there now.
	Before string `json:"before,omitzero"`
	After  string `json:"after,omitzero"`
	// Detail is what else was said, such as the terms of an approval.
	Detail string `json:"detail,omitzero"`
	// Refused says that it was not done because By lacks the role for it.
	Refused bool `json:"refused,omitzero"`
}

// Changed writes what somebody has done in the console. failed is why it was not done; nil
// if it was, or was refused.
func (l *Log) Changed(c Change, source string, failed error) error {
	entry := &line{Time: time.Now().UTC(), Outcome: outcomeConsole, Principal: c.By, Source: source, Console: &c}
	if failed != nil {
		entry.Error = l.opts.Secrets.Text(failed.Error())
	}
	if err := l.write(entry); err != nil && l.opts.Required {
		return refusal()
	}
	return nil
}

// Path is where the log is written.
func (l *Log) Path() string { return l.opts.Path }

const outcomeConsole = "console"
