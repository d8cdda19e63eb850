// The peer of script/bench pages: Go's net/http and html/template with the same pages out of a model in memory.
//
// The model is read once from what Signalbox's API says of its own (pushes.json, device.json in the folder that is
// named), so that both show the same rows. There is no database: a session or a token is a look into a map.
package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed *.html
var files embed.FS

type counts struct {
	Accepted  int  `json:"accepted"`
	DeadToken int  `json:"dead_token"`
	Failed    int  `json:"failed"`
	Pending   int  `json:"pending"`
	Skipped   int  `json:"skipped"`
	Target    *int `json:"target"`
	Unknown   int  `json:"unknown"`
}

type push struct {
	App         string          `json:"app"`
	Audience    json.RawMessage `json:"audience"`
	Counts      counts          `json:"counts"`
	CreatedAt   time.Time       `json:"created_at"`
	CreatedBy   string          `json:"created_by"`
	Draft       draft           `json:"draft"`
	Environment string          `json:"environment"`
	Error       *string         `json:"error"`
	FinishedAt  *time.Time      `json:"finished_at"`
	ID          string          `json:"id"`
	Platforms   []string        `json:"platforms"`
	Source      string          `json:"source"`
	StartedAt   *time.Time      `json:"started_at"`
	State       string          `json:"state"`
}

type draft struct {
	App          string          `json:"app"`
	Audience     json.RawMessage `json:"audience"`
	Environment  string          `json:"environment"`
	Notification struct {
		Body  string `json:"body"`
		Title string `json:"title"`
	} `json:"notification"`
	Platforms []string `json:"platforms"`
}

type device struct {
	Alias          *string   `json:"alias"`
	App            string    `json:"app"`
	Environment    string    `json:"environment"`
	ID             int       `json:"id"`
	Name           *string   `json:"name"`
	Platform       string    `json:"platform"`
	RegisteredAt   time.Time `json:"registered_at"`
	RegistrationID *string   `json:"registration_id"`
	SeenAt         time.Time `json:"seen_at"`
	State          string    `json:"state"`
	StateReason    *string   `json:"state_reason"`
	Tags           []string  `json:"tags"`
	Token          string    `json:"token"`
}

type list struct {
	Items []push  `json:"items"`
	Next  *string `json:"next"`
}

type row struct {
	Href, Content, Source, Who, App, Environment, Audience, State, Target, Accepted, Failed, Outcome, Created, Text string
	Production, AnyFailed                                                                                           bool
	Bar                                                                                                             []part
}

type part struct {
	Kind     string
	X, Width float64
}

type bar struct {
	Day, Accepted, Failed, Text                      string
	X                                                int
	AcceptedY, AcceptedHeight, FailedY, FailedHeight float64
}

type option struct {
	Value, Label string
	Selected     bool
}

type health struct {
	Href, Name, Environment, Credential, LastAccepted, Devices string
	Production                                                 bool
}

type page struct {
	Title, Section, User, Role, CSRF, Path, Version string
	Rows                                            []row
	Apps, Environments, States, Sources             []option
	Summary, Top, Middle, First, Last, Older        string
	Bars                                            []bar
	Health                                          []health
}

var (
	model    list
	one      device
	sessions = map[[32]byte]string{}
	tokens   = map[[32]byte]string{}
	pages    = map[string]*template.Template{}
)

func grouped(n int) string {
	digits := strconv.Itoa(n)
	var text strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			text.WriteRune('\u202f')
		}
		text.WriteRune(digit)
	}
	return text.String()
}

func audience(raw json.RawMessage) string {
	if string(raw) == `"all"` {
		return "everyone"
	}
	var rule struct{ Tag []string }
	if json.Unmarshal(raw, &rule) != nil {
		return ""
	}
	return "tagged " + strings.Join(rule.Tag, ", ")
}

func rows(pushes []push) []row {
	made := make([]row, 0, len(pushes))
	for _, p := range pushes {
		c := p.Counts
		target := "–"
		if c.Target != nil {
			target = grouped(*c.Target)
		}
		failed := c.Failed + c.DeadToken
		r := row{
			Href: "/pushes/" + p.ID, Content: p.Draft.Notification.Title, Source: "API", Who: p.CreatedBy, App: "Shop",
			Environment: p.Environment, Production: p.Environment == "production", Audience: audience(p.Draft.Audience),
			State: p.State, Target: target, Accepted: grouped(c.Accepted), Failed: grouped(failed), AnyFailed: failed > 0,
			Outcome: fmt.Sprintf("%s accepted, %s failed, %s dead token, %s skipped, %s unknown", grouped(c.Accepted),
				grouped(c.Failed), grouped(c.DeadToken), grouped(c.Skipped), grouped(c.Unknown)),
			Created: p.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"),
			Text:    p.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"),
		}
		whole := c.Accepted + c.Failed + c.DeadToken + c.Skipped + c.Unknown
		x := 0.0
		for _, kind := range []struct {
			name  string
			count int
		}{{"accepted", c.Accepted}, {"failed", c.Failed}, {"dead_token", c.DeadToken}, {"skipped", c.Skipped}, {"unknown", c.Unknown}} {
			if kind.count > 0 {
				width := float64(kind.count) * 100 / float64(whole)
				r.Bar = append(r.Bar, part{kind.name, x, width})
				x += width
			}
		}
		made = append(made, r)
	}
	return made
}

func chart(p *page) {
	day := time.Now().UTC().Truncate(24 * time.Hour)
	total := 0
	for _, push := range model.Items {
		total += push.Counts.Accepted
	}
	first := day.AddDate(0, 0, -29)
	for i := 0; i < 30; i++ {
		date := first.AddDate(0, 0, i).Format("2006-01-02")
		accepted := 0
		if i == 29 {
			accepted = total
		}
		height := float64(accepted) * 128 / 200
		p.Bars = append(p.Bars, bar{date, grouped(accepted), "0", fmt.Sprintf("%s: %s accepted, 0 failed", date, grouped(accepted)),
			42 + i*20, 136 - height, height, 136 - height, 0})
	}
	p.Summary = grouped(total) + " accepted, 0 failed in 30 days"
	p.Top, p.Middle, p.First, p.Last = "200", "100", first.Format("2006-01-02"), day.Format("2006-01-02")
}

func render(name string, make func() page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("signalbox_session")
		if err != nil {
			http.Redirect(w, r, "/session/new", http.StatusSeeOther)
			return
		}
		user, known := sessions[sha256.Sum256([]byte(cookie.Value))]
		if !known {
			http.Redirect(w, r, "/session/new", http.StatusSeeOther)
			return
		}
		p := make()
		p.User, p.Role, p.CSRF, p.Path, p.Version = user, "Admin", "csrf-bench-0000000000000", r.URL.Path, "0.1.0"
		// Into a buffer first, as any page that may fail half-way must be.
		var body bytes.Buffer
		if err := pages[name].Execute(&body, p); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		header := w.Header()
		secure(header)
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Length", strconv.Itoa(body.Len()))
		w.Write(body.Bytes())
	}
}

func secure(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func answer(make func(r *http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, known := tokens[sha256.Sum256([]byte(token))]; !known {
			http.Error(w, "unknown token", http.StatusUnauthorized)
			return
		}
		body, err := json.Marshal(make(r))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		header := w.Header()
		secure(header)
		header.Set("Content-Type", "application/json")
		header.Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}
}

func read(path string, into any) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// usage: pages-bench FOLDER COOKIE TOKEN
func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: pages-bench FOLDER COOKIE TOKEN")
	}
	read(filepath.Join(os.Args[1], "pushes.json"), &model)
	read(filepath.Join(os.Args[1], "device.json"), &one)
	sessions[sha256.Sum256([]byte(os.Args[2]))] = "lin@example.com"
	tokens[sha256.Sum256([]byte(os.Args[3]))] = "bench"
	for _, name := range []string{"overview", "pushes"} {
		pages[name] = template.Must(template.ParseFS(files, "layout.html", "rows.html", name+".html")).Lookup("layout.html")
	}
	http.Handle("/pushes", render("pushes", func() page {
		return page{Title: "Pushes", Section: "pushes", Rows: rows(model.Items), Older: "/pushes?cursor=next&trail=-",
			Apps:         []option{{"", "any", true}, {"1", "Shop", false}},
			Environments: []option{{"", "any", true}, {"development", "development", false}, {"production", "production", false}},
			States: []option{{"", "any", true}, {"queued", "queued", false}, {"sending", "sending", false},
				{"finished", "finished", false}, {"cancelled", "cancelled", false}, {"failed", "failed", false}},
			Sources: []option{{"", "any", true}, {"web", "console", false}, {"api", "API", false}, {"cli", "command line", false}}}
	}))
	http.Handle("/", render("overview", func() page {
		p := page{Title: "Overview", Section: "overview", Rows: rows(model.Items[:10]), Health: []health{
			{"/apps/1", "Shop", "development", "AuthKey_DEMO123456, never expires, built-in simulator", "just now", "4", false},
			{"/apps/1", "Shop", "production", "AuthKey_DEMO123456, never expires, built-in simulator", "just now", "2", true}}}
		chart(&p)
		return p
	}))
	http.Handle("/api/v1/pushes", answer(func(*http.Request) any { return model }))
	http.Handle("/api/v1/devices/1", answer(func(*http.Request) any { return one }))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening %s\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
