package main

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
)

// browse stands for the browser and its user: it logs in as ann and allows what
// is requested, or does what the environment variable ANSWER says.
func browse() {
	if err := visit(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

var (
	formAction = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	hidden     = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
	checkbox   = regexp.MustCompile(`<input type="checkbox" [^>]*name="([^"]*)" value="([^"]*)" checked`)
)

func visit(page string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	c := &http.Client{Jar: jar}
	resp, err := c.Get(page)
	for range 5 {
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		action := formAction.FindSubmatch(body)
		if action == nil {
			return nil // the program's redirect URI, or a page that reports an error
		}
		target, err := resp.Request.URL.Parse(html.UnescapeString(string(action[1])))
		if err != nil {
			return err
		}
		resp, err = c.PostForm(target.String(), fill(string(body)))
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("no end to the forms")
}

// fill fills in a form as it is offered.
func fill(body string) url.Values {
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(body, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	if strings.Contains(body, `<input id="password"`) {
		form.Set("name", "ann")
		form.Set("password", "secret")
		form.Set("action", "login")
		return form
	}
	for _, box := range checkbox.FindAllStringSubmatch(body, -1) {
		form.Add(box[1], html.UnescapeString(box[2]))
	}
	form.Set("action", cmp.Or(os.Getenv("ANSWER"), "allow"))
	return form
}
