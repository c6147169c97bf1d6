package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aircoding/air/internal/config"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/session"
)

// app is one invocation of air. Its parts are built when a verb first needs them.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	flags struct {
		output, project, session, task string
		noPrompt, quiet, verbose       bool
		timeout                        time.Duration
	}
	ran     bool   // a command's own code was reached
	logged  string // the last log line that stderr has
	printed bool   // stdout has the command's answer

	closers []func() error
}

func (a *app) later(close func() error) { a.closers = append(a.closers, close) }

func (a *app) close() error {
	var all error
	for i := len(a.closers) - 1; i >= 0; i-- {
		all = errors.Join(all, a.closers[i]())
	}
	a.closers = nil
	return all
}

// place is where this invocation happens.
type place struct {
	home    home.Home
	project home.Project
	config  config.Config
}

// here is a text for people in which the paths of the project, at the beginning or behind a
// blank, are relative to it.
func (at place) here(text string) string {
	if !at.project.Exists() {
		return text
	}
	root := at.project.Root + "/"
	return strings.ReplaceAll(strings.TrimPrefix(text, root), " "+root, " ")
}

func (a *app) place() (place, error) {
	h, err := home.Locate(a.getenv)
	if err != nil {
		return place{}, err
	}
	start := a.flags.project
	if start == "" {
		if start, err = os.Getwd(); err != nil {
			return place{}, err
		}
	}
	p, err := h.Find(start)
	if err != nil {
		return place{}, err
	}
	c, err := config.Load(h.Dir, a.getenv)
	return place{h, p, c}, err
}

// needProject is place for verbs that make no sense outside a project.
func (a *app) needProject() (place, error) {
	at, err := a.place()
	if err == nil && !at.project.Exists() {
		err = fault.New(fault.InvalidInput, "no_project", "there is no project here").WithHint("air init makes this folder a project")
	}
	return at, err
}

func (a *app) session(ctx context.Context, at place) (*session.Session, error) {
	id := a.flags.session
	if id == "" {
		id = a.getenv("AIR_SESSION")
	}
	s, err := session.Current(ctx, at.project, at.home, session.Options{Session: id, Task: a.flags.task, Redactor: redactor(at.home)})
	if err == nil {
		a.later(s.Close)
	}
	return s, err
}

// projectEvents is the store of events that belong to no session.
func (a *app) projectEvents(at place) (*event.Store, error) {
	s, err := session.ProjectEvents(at.project, at.home, session.Options{Redactor: redactor(at.home)})
	if err == nil {
		a.later(s.Close)
	}
	return s, err
}

// appendEvent records something that a person did.
func appendEvent(ctx context.Context, store *event.Store, eventType string, payload any) error {
	body, err := plainjson.Marshal(payload)
	if err != nil {
		return err
	}
	_, err = store.Append(ctx, event.Event{Type: eventType, Source: event.Source{Kind: "person"}, Payload: body})
	return err
}
