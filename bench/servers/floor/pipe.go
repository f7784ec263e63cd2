package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// servePipe answers each line with a line, one after the other.
func (f *floor) servePipe(r io.Reader, w io.Writer) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := f.answerLine(w, line); err != nil {
			return err
		}
	}
}

func (f *floor) answerLine(w io.Writer, line []byte) error {
	var req request
	if err := json.Unmarshal(line, &req); err != nil {
		return err
	}
	if req.ID == nil {
		return nil
	}
	var res any = map[string]any{"tools": f.tools}
	if req.Method == "tools/call" {
		res = result(req.Params.Arguments)
	}
	b, err := json.Marshal(answerTo(req.ID, res))
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
