package mcp

import "log/slog"

// LoggingLevel is the severity of a log message, as RFC 5424 names it.
//
// Spec: 2026-07-28 server/utilities/logging#log-levels.
type LoggingLevel string

// The levels, least severe first.
const (
	LevelDebug     LoggingLevel = "debug"
	LevelInfo      LoggingLevel = "info"
	LevelNotice    LoggingLevel = "notice"
	LevelWarning   LoggingLevel = "warning"
	LevelError     LoggingLevel = "error"
	LevelCritical  LoggingLevel = "critical"
	LevelAlert     LoggingLevel = "alert"
	LevelEmergency LoggingLevel = "emergency"
)

// Severity returns the level's rank, 0 for debug up to 7 for emergency, and
// -1 for a level that does not exist.
func (l LoggingLevel) Severity() int {
	switch l {
	case LevelDebug:
		return 0
	case LevelInfo:
		return 1
	case LevelNotice:
		return 2
	case LevelWarning:
		return 3
	case LevelError:
		return 4
	case LevelCritical:
		return 5
	case LevelAlert:
		return 6
	case LevelEmergency:
		return 7
	}
	return -1
}

// Slog returns the level as slog knows it. The levels that slog has no name
// for lie between and above its own.
func (l LoggingLevel) Slog() slog.Level {
	switch s := l.Severity(); {
	case s <= 0:
		return slog.LevelDebug
	case s == 1:
		return slog.LevelInfo
	case s == 2:
		return slog.LevelInfo + 2
	case s == 3:
		return slog.LevelWarn
	default:
		return slog.LevelError + slog.Level(4*(s-4))
	}
}

// LevelFromSlog returns the level nearest below an slog level.
func LevelFromSlog(l slog.Level) LoggingLevel {
	levels := []LoggingLevel{LevelEmergency, LevelAlert, LevelCritical, LevelError, LevelWarning, LevelNotice, LevelInfo}
	for _, level := range levels {
		if l >= level.Slog() {
			return level
		}
	}
	return LevelDebug
}

// SetLevelParams sets the lowest level of a session's log messages.
//
// Spec: 2025-11-25 server/utilities/logging#setting-log-level.
type SetLevelParams struct {
	Level LoggingLevel `json:"level"`
}

// LogParams is a log message from the server.
//
// Revision 2026-07-28 deprecates log messages to clients (docs/deprecated.md).
//
// Spec: 2026-07-28 server/utilities/logging#log-message-notifications.
type LogParams struct {
	Meta   Meta         `json:"_meta,omitzero"`
	Level  LoggingLevel `json:"level"`
	Logger string       `json:"logger,omitzero"`
	// Data is any value with a JSON form: a string, or an object of details.
	Data any `json:"data"`
}
