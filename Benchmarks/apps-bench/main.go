// The peers and the phones of script/bench apps.
//
//	apps-bench serve DATABASE                                net/http that stores each registration, for comparison
//	apps-bench insert DATABASE COUNT PUSHES SIZE             the bare inserts of receipts of so many devices, each of so
//	                                                         many pushes, SIZE in a transaction
//	apps-bench register URL KEY COUNT CONNECTIONS            registers so many devices
//	apps-bench report URL SBID SBSIG COUNT SIZE CONNECTIONS RATE
//	                                                         reports of so many of them, each of the pushes SBID-0 to
//	                                                         SBID-(SIZE - 1), RATE requests a second (0: as many as go)
//
// serve and insert call SQLite's C interface with prepared statements, on the schema of Signalbox's own database. The
// clients write plain HTTP/1.1 over kept connections, each request from another address (X-Forwarded-For), and print the
// seconds that they took.
package main

/*
#cgo LDFLAGS: -lsqlite3
#include <sqlite3.h>
#include <stdlib.h>

static int bind_blob(sqlite3_stmt *s, int i, void *p, int n) { return sqlite3_bind_blob(s, i, p, n, SQLITE_TRANSIENT); }
*/
import "C"

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

func main() {
	arguments := os.Args[1:]
	var err error
	switch {
	case len(arguments) == 2 && arguments[0] == "serve":
		err = serve(arguments[1])
	case len(arguments) == 5 && arguments[0] == "insert":
		err = insert(arguments[1], number(arguments[2]), number(arguments[3]), number(arguments[4]))
	case len(arguments) == 5 && arguments[0] == "register":
		err = register(arguments[1], arguments[2], number(arguments[3]), number(arguments[4]))
	case len(arguments) == 8 && arguments[0] == "report":
		err = report(arguments[1], arguments[2], arguments[3], number(arguments[4]), number(arguments[5]),
			number(arguments[6]), number(arguments[7]))
	default:
		err = fmt.Errorf("see the head of main.go")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "apps-bench:", err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "apps-bench:", text, "is not a number")
		os.Exit(64)
	}
	return value
}

// The token of a device, 32 bytes.
func token(number int) []byte {
	bytes := make([]byte, 32)
	mixed := uint64(number+1) * 0x9E3779B97F4A7C15
	for i := range bytes {
		mixed ^= mixed >> 30
		mixed *= 0xBF58476D1CE4E5B9
		bytes[i] = byte(mixed >> 56)
	}
	return bytes
}

// SQLite, one connection.

type database struct{ handle *C.sqlite3 }

func open(path string) (*database, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var handle *C.sqlite3
	if C.sqlite3_open_v2(name, &handle, C.SQLITE_OPEN_READWRITE, nil) != C.SQLITE_OK {
		return nil, fmt.Errorf("cannot open %s", path)
	}
	d := &database{handle}
	// As Signalbox's writer (Sources/SQLite/Database.swift).
	return d, d.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;" +
		"PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192; PRAGMA secure_delete = ON; PRAGMA busy_timeout = 5000")
}

func (d *database) run(sql string) error {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	if C.sqlite3_exec(d.handle, text, nil, nil, nil) != C.SQLITE_OK {
		return fmt.Errorf("%s: %s", sql, C.GoString(C.sqlite3_errmsg(d.handle)))
	}
	return nil
}

func (d *database) prepare(sql string) (*C.sqlite3_stmt, error) {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	var statement *C.sqlite3_stmt
	if C.sqlite3_prepare_v2(d.handle, text, -1, &statement, nil) != C.SQLITE_OK {
		return nil, fmt.Errorf("%s: %s", sql, C.GoString(C.sqlite3_errmsg(d.handle)))
	}
	return statement, nil
}

func (d *database) step(statement *C.sqlite3_stmt) error {
	if C.sqlite3_step(statement) != C.SQLITE_DONE {
		return fmt.Errorf("%s", C.GoString(C.sqlite3_errmsg(d.handle)))
	}
	C.sqlite3_reset(statement)
	return nil
}

// The peer of a registration.

type registration struct {
	Token       string `json:"token"`
	Platform    string `json:"platform"`
	Environment string `json:"environment"`
	AppVersion  string `json:"app_version"`
	TimeZone    string `json:"time_zone"`
}

func serve(path string) error {
	d, err := open(path)
	if err != nil {
		return err
	}
	device, err := d.prepare("INSERT INTO devices(app_id, environment, platform, state, token, created_at, registered_at," +
		" seen_at) VALUES (1, 1, 1, 1, ?1, ?2, ?2, ?2)")
	if err != nil {
		return err
	}
	counter, err := d.prepare("INSERT INTO device_counters(app_id, environment, platform, provider, state, count)" +
		" VALUES (1, 1, 1, 1, 1, 1) ON CONFLICT DO UPDATE SET count = count + 1")
	if err != nil {
		return err
	}
	details, err := d.prepare("INSERT INTO device_details(device_id, app_version, time_zone) VALUES (last_insert_rowid(), '1.0'," +
		" 'Asia/Shanghai')")
	if err != nil {
		return err
	}
	var lock sync.Mutex
	store := func(token []byte) error {
		lock.Lock()
		defer lock.Unlock()
		if err := d.run("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		C.bind_blob(device, 1, unsafe.Pointer(&token[0]), C.int(len(token)))
		C.sqlite3_bind_int64(device, 2, C.sqlite3_int64(time.Now().UnixMilli()))
		for _, statement := range []*C.sqlite3_stmt{device, details, counter} {
			if err := d.step(statement); err != nil {
				_ = d.run("ROLLBACK")
				return err
			}
		}
		return d.run("COMMIT")
	}
	http.HandleFunc("/notificationtokenupload", func(w http.ResponseWriter, r *http.Request) {
		var fields registration
		if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&fields); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		token, err := hex.DecodeString(fields.Token)
		if err == nil && len(token) >= 32 {
			err = store(token)
		}
		if err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"code":0,"message":"success"}`))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("listening at http://%s\n", listener.Addr())
	return http.Serve(listener, nil)
}

// The bare inserts of receipts.

func insert(path string, count, pushes, size int) error {
	d, err := open(path)
	if err != nil {
		return err
	}
	statement, err := d.prepare("INSERT INTO receipts(push_id, device_id, displayed_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
	if err != nil {
		return err
	}
	count *= pushes
	for i := 0; i < count; i++ {
		if i%size == 0 {
			if err := d.run("BEGIN IMMEDIATE"); err != nil {
				return err
			}
		}
		C.sqlite3_bind_int64(statement, 1, C.sqlite3_int64(i%pushes+1))
		C.sqlite3_bind_int64(statement, 2, C.sqlite3_int64(i/pushes+1))
		C.sqlite3_bind_int64(statement, 3, C.sqlite3_int64(time.Now().UnixMilli()))
		if err := d.step(statement); err != nil {
			return err
		}
		if i%size == size-1 || i == count-1 {
			if err := d.run("COMMIT"); err != nil {
				return err
			}
		}
	}
	return nil
}

// The phones.

func register(url, key string, count, connections int) error {
	return send(url, "/notificationtokenupload", key, count, connections, 0, func(i int, body *bytes.Buffer) {
		fmt.Fprintf(body, `{"token":"%x","platform":"ios","environment":"development","app_version":"1.0",`+
			`"time_zone":"Asia/Shanghai"}`, token(i))
	}, `"code":0`)
}

func report(url, id, signature string, count, size, connections, rate int) error {
	return send(url, "/receipts", "", count, connections, rate, func(i int, body *bytes.Buffer) {
		fmt.Fprintf(body, `{"token":"%x","receipts":[`, token(i))
		for entry := 0; entry < size; entry++ {
			if entry > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(body, `{"sbid":"%s-%d","sbsig":"%s","event":"displayed"}`, id, entry, signature)
		}
		body.WriteString("]}")
	}, `"recorded"`)
}

func send(url, path, key string, count, connections, rate int, write func(int, *bytes.Buffer), wanted string) error {
	address := url[len("http://"):]
	var next int64 = -1
	failures := make(chan error, connections)
	var group sync.WaitGroup
	start := time.Now()
	for c := 0; c < connections; c++ {
		group.Add(1)
		go func() {
			defer group.Done()
			connection, err := net.Dial("tcp", address)
			if err != nil {
				failures <- err
				return
			}
			defer connection.Close()
			reader := bufio.NewReader(connection)
			var body, request bytes.Buffer
			for {
				i := int(atomic.AddInt64(&next, 1))
				if i >= count {
					return
				}
				if rate > 0 {
					time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate))))
				}
				body.Reset()
				request.Reset()
				write(i, &body)
				fmt.Fprintf(&request, "POST %s HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.%d.%d.%d\r\n"+
					"Content-Type: application/json\r\nContent-Length: %d\r\n", path, i>>16&255, i>>8&255, i&255, body.Len())
				if key != "" {
					fmt.Fprintf(&request, "Authorization: Bearer %s\r\n", key)
				}
				request.WriteString("\r\n")
				request.Write(body.Bytes())
				if _, err := connection.Write(request.Bytes()); err != nil {
					failures <- err
					return
				}
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					failures <- err
					return
				}
				text, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || !bytes.Contains(text, []byte(wanted)) {
					failures <- fmt.Errorf("%s: %s %v", response.Status, text, err)
					return
				}
			}
		}()
	}
	group.Wait()
	select {
	case err := <-failures:
		return err
	default:
	}
	fmt.Printf("%.3f\n", time.Since(start).Seconds())
	return nil
}
