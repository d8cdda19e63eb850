// The clients of script/bench limits and soak: what one person notices while others occupy the server.
//
//	limits-bench -kind idle|heads|readers|bodies|busy|none -count N …   see limits-bench -help
//
// A probe asks for pages 100 times a second, first alone and then beside the others. One line of tab-separated figures
// comes out: kind; connections that were opened, that were refused or answered with 429, that the server ended; requests
// of theirs that were answered; p50 and p99 of the probe at rest and beside them in ms; requests of the probe that failed;
// memory of the server at rest and beside them in MB; its CPU in % of a core meanwhile; its open descriptors beside them
// and afterwards.
//
// Each connection comes from an address of its own in 127.0.0.0/8, because the server limits those of one address.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	kind    = flag.String("kind", "none", "idle: kept connections; heads, bodies: a byte a second; readers: an answer of which little is read; busy: requests without a pause; none: the probe alone")
	base    = flag.String("url", "", "the server, as http://127.0.0.1:PORT")
	probe   = flag.String("probe", "/healthz", "paths that the probe asks for, separated by spaces")
	fields  = flag.String("fields", "", "header fields of the probe's requests, separated by |")
	target  = flag.String("path", "/healthz", "the path that the others ask for")
	others  = flag.String("others-fields", "", "header fields of their requests, separated by |")
	count   = flag.Int("count", 1, "how many others")
	seconds = flag.Int("seconds", 5, "how long the probe asks at rest, and beside the others")
	process = flag.Int("pid", 0, "the server's process")
	crowd   = flag.Bool("crowd", false, "be the others, and not the probe")
	oneAddr = flag.Bool("one-address", false, "the others come from one address")
)

var opened, refused, ended, answered int64

func main() {
	flag.Parse()
	server, err := url.Parse(*base)
	if err != nil || server.Host == "" {
		fmt.Fprintln(os.Stderr, "limits-bench: -url is not an address")
		os.Exit(64)
	}
	if *crowd {
		occupy(server.Host)
		return
	}
	period := time.Duration(*seconds) * time.Second
	rest, restFailed := ask(server.Host, period)
	memoryAtRest := status("VmRSS")
	// The others are a process of their own, and a nicer one, so that the probe measures the server and not its own queue.
	others := exec.Command("nice", append([]string{"-n", "10", os.Args[0], "-crowd"}, os.Args[1:]...)...)
	others.Stderr = os.Stderr
	stop, err := others.StdinPipe()
	check(err)
	output, err := others.StdoutPipe()
	check(err)
	check(others.Start())
	lines := bufio.NewReader(output)
	_, err = lines.ReadString('\n')
	check(err)
	cpu := processorTime()
	began := time.Now()
	load, loadFailed := ask(server.Host, period)
	cpu = (processorTime() - cpu) / time.Since(began).Seconds() * 100
	memory := status("VmRSS")
	descriptors := openDescriptors()
	stop.Close()
	counts, err := lines.ReadString('\n')
	check(err)
	check(others.Wait())
	ask(server.Host, time.Second)
	fmt.Printf("%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%d\t%.0f\t%.0f\t%.0f\t%d\t%d\n", *kind, strings.TrimSpace(counts),
		at(rest, 0.5), at(rest, 0.99), at(load, 0.5), at(load, 0.99), restFailed+loadFailed,
		memoryAtRest, memory, cpu, descriptors, openDescriptors())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "limits-bench:", err)
		os.Exit(1)
	}
}

// occupy is the others: says when all are there, stops at the end of its input, and prints what became of them.
func occupy(host string) {
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	var all sync.WaitGroup
	ready := make(chan struct{}, *count)
	waited := 0
	for i := 0; i < *count; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			other(host, i, ready, stop)
		}(i)
		// A listener's queue is finite: connections come as fast as many clients would, not all in one moment.
		if i-waited >= 200 {
			<-ready
			waited++
		}
	}
	for ; waited < *count; waited++ {
		<-ready
	}
	fmt.Println("ready")
	all.Wait()
	fmt.Printf("%d\t%d\t%d\t%d\n", opened, refused, ended, answered)
}

// ask is the probe: milliseconds of each answer, and how many requests failed. A request that is late does not hold up
// the next, which goes out on another connection, as those of several people would.
func ask(host string, period time.Duration) ([]float64, int) {
	type asker struct {
		connection net.Conn
		reader     *bufio.Reader
	}
	paths := strings.Fields(*probe)
	idle := make(chan asker, 1000)
	var lock sync.Mutex
	var all sync.WaitGroup
	var times []float64
	failed := 0
	begin := time.Now()
	for n := 0; ; n++ {
		turn := begin.Add(time.Duration(n) * 10 * time.Millisecond)
		if turn.Sub(begin) > period {
			break
		}
		time.Sleep(time.Until(turn))
		all.Add(1)
		go func(path string) {
			defer all.Done()
			sent := time.Now()
			var one asker
			var err error
			select {
			case one = <-idle:
			default:
				if one.connection, err = net.DialTimeout("tcp", host, 10*time.Second); err == nil {
					one.reader = bufio.NewReader(one.connection)
				}
			}
			code := 0
			if err == nil {
				one.connection.SetDeadline(time.Now().Add(30 * time.Second))
				if _, err = io.WriteString(one.connection, request("GET", path, host, *fields, "")); err == nil {
					code, err = answer(one.reader)
				}
			}
			took := float64(time.Since(sent).Microseconds()) / 1000
			lock.Lock()
			defer lock.Unlock()
			if err == nil && code == 200 {
				times = append(times, took)
				idle <- one
				return
			}
			if failed == 0 {
				fmt.Fprintf(os.Stderr, "limits-bench: the probe got %d for %s (%v)\n", code, path, err)
			}
			failed++
			if one.connection != nil {
				one.connection.Close()
			}
		}(paths[n%len(paths)])
	}
	all.Wait()
	close(idle)
	for one := range idle {
		one.connection.Close()
	}
	sort.Float64s(times)
	return times, failed
}

func request(method, path, host, fields, length string) string {
	text := method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n"
	for _, field := range strings.Split(fields, "|") {
		if field != "" {
			text += field + "\r\n"
		}
	}
	return text + length + "\r\n"
}

// other is one of the connections that occupy the server until stop. It is ready once it does so.
func other(host string, number int, ready chan<- struct{}, stop <-chan struct{}) {
	dialer := net.Dialer{Timeout: 20 * time.Second}
	if !*oneAddr {
		// 127.0.0.1 is the probe's own.
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 1, byte(number/250), byte(number%250+1))}
	}
	var once sync.Once
	occupied := func() { once.Do(func() { ready <- struct{}{} }) }
	defer occupied()
	connection, err := dialer.Dial("tcp", host)
	if err != nil {
		atomic.AddInt64(&refused, 1)
		return
	}
	defer connection.Close()
	go func() {
		<-stop
		connection.SetDeadline(time.Now())
	}()
	switch *kind {
	case "idle":
		keep(connection, host, occupied)
	case "busy":
		hurry(connection, host, occupied)
	case "heads":
		trickle(connection, request("GET", *target, host, *others, "X-Slow: "+strings.Repeat("a", 4000)+"\r\n"), 20, occupied, stop)
	case "bodies":
		head := request("POST", *target, host, *others, "Content-Type: application/x-ndjson\r\nContent-Length: 4000\r\n")
		trickle(connection, head+strings.Repeat(" ", 4000), len(head), occupied, stop)
	case "readers":
		connection.(*net.TCPConn).SetReadBuffer(4096)
		if _, err := io.WriteString(connection, request("GET", *target, host, *others, "")); err != nil {
			atomic.AddInt64(&refused, 1)
			return
		}
		atomic.AddInt64(&opened, 1)
		sip(connection, occupied, stop)
	}
}

// keep asks once and stays.
func keep(connection net.Conn, host string, occupied func()) {
	reader := bufio.NewReaderSize(connection, 512)
	io.WriteString(connection, request("GET", *target, host, *others, ""))
	if code, err := answer(reader); err != nil || code != 200 {
		atomic.AddInt64(&refused, 1)
		return
	}
	atomic.AddInt64(&opened, 1)
	atomic.AddInt64(&answered, 1)
	occupied()
	if _, err := reader.ReadByte(); err != nil && !isTimeout(err) {
		atomic.AddInt64(&ended, 1)
	}
}

// hurry asks again as soon as an answer is there.
func hurry(connection net.Conn, host string, occupied func()) {
	reader := bufio.NewReader(connection)
	text := request("GET", *target, host, *others, "")
	for first := true; ; first = false {
		io.WriteString(connection, text)
		if first {
			atomic.AddInt64(&opened, 1)
			occupied()
		}
		code, err := answer(reader)
		switch {
		case err != nil && isTimeout(err):
			return
		case err != nil || code == 503:
			atomic.AddInt64(&ended, 1)
			return
		case code == 429:
			atomic.AddInt64(&refused, 1)
		default:
			atomic.AddInt64(&answered, 1)
		}
	}
}

// trickle writes the first bytes at once, and the others one a second.
func trickle(connection net.Conn, text string, first int, occupied func(), stop <-chan struct{}) {
	if _, err := io.WriteString(connection, text[:first]); err != nil {
		atomic.AddInt64(&refused, 1)
		return
	}
	atomic.AddInt64(&opened, 1)
	occupied()
	closed := make(chan struct{})
	go func() {
		io.Copy(io.Discard, connection)
		close(closed)
	}()
	for i := first; i < len(text); i++ {
		select {
		case <-stop:
			return
		case <-closed:
			atomic.AddInt64(&ended, 1)
			return
		case <-time.After(time.Second):
			if _, err := io.WriteString(connection, text[i:i+1]); err != nil {
				atomic.AddInt64(&ended, 1)
				return
			}
		}
	}
}

// sip reads 100 bytes a second.
func sip(connection net.Conn, occupied func(), stop <-chan struct{}) {
	occupied()
	buffer := make([]byte, 100)
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
			if _, err := connection.Read(buffer); err != nil {
				if !isTimeout(err) {
					atomic.AddInt64(&ended, 1)
				}
				return
			}
		}
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

// answer reads a whole one, of known length or in chunks, and returns its status.
func answer(reader *bufio.Reader) (int, error) {
	line, err := reader.ReadString('\n')
	if err != nil || len(line) < 12 {
		return 0, err
	}
	code, _ := strconv.Atoi(line[9:12])
	length, chunked := 0, false
	for {
		line, err = reader.ReadString('\n')
		if err != nil {
			return code, err
		}
		if line == "\r\n" {
			break
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		case "transfer-encoding":
			chunked = true
		}
	}
	if !chunked {
		_, err = reader.Discard(length)
		return code, err
	}
	for {
		line, err = reader.ReadString('\n')
		if err != nil {
			return code, err
		}
		size, _ := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		if _, err = reader.Discard(int(size) + 2); err != nil || size == 0 {
			return code, err
		}
	}
}

func at(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return -1
	}
	return sorted[int(float64(len(sorted)-1)*share)]
}

// status is a line of the server's /proc/…/status, in MB.
func status(name string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", *process))
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, name+":") {
			kilobytes, _ := strconv.ParseFloat(strings.Fields(line)[1], 64)
			return kilobytes / 1024
		}
	}
	return -1
}

// processorTime is the CPU that the server has used, in seconds.
func processorTime() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", *process))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

func openDescriptors() int {
	names, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", *process))
	return len(names)
}
