// Pushes as the Go programs of the field send them: one http.Client over golang.org/x/net/http2, a new request for each
// push, and so many goroutines that each wait for their answer. Written for this comparison; the headers are those of
// Signalbox's own pushes.
//
//	push-bench CA-FILE BASE-URL TOKEN-FILE BODY-FILE JWT COUNT GOROUTINES
//
// Prints the CPU seconds and the seconds of the sending alone. Tokens stand in memory before it begins.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/http2"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "push-bench:", err)
		os.Exit(1)
	}
}

type reason struct {
	Reason string `json:"reason"`
}

func run(arguments []string) error {
	if len(arguments) != 7 {
		return fmt.Errorf("wants 7 arguments, has %d", len(arguments))
	}
	authority, err := os.ReadFile(arguments[0])
	if err != nil {
		return err
	}
	addresses, err := lines(arguments[2])
	if err != nil {
		return err
	}
	body, err := os.ReadFile(arguments[3])
	if err != nil {
		return err
	}
	bearer := "bearer " + arguments[4]
	count, err := strconv.Atoi(arguments[5])
	if err != nil {
		return err
	}
	workers, err := strconv.Atoi(arguments[6])
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := &http.Client{
		Transport: &http2.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots},
			ReadIdleTimeout: 15 * time.Second,
		},
		Timeout: time.Minute,
	}
	base := arguments[1]
	send := func(number int) error {
		request, err := http.NewRequest("POST", base+addresses[number%len(addresses)], bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json; charset=utf-8")
		request.Header.Set("authorization", bearer)
		request.Header.Set("apns-topic", "com.example.app")
		request.Header.Set("apns-id", fmt.Sprintf("12345678-9abc-4ef0-8000-%012x", number))
		request.Header.Set("apns-priority", "10")
		request.Header.Set("apns-push-type", "alert")
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			_, err = io.Copy(io.Discard, answer.Body)
			return err
		}
		var why reason
		if err := json.NewDecoder(answer.Body).Decode(&why); err != nil && err != io.EOF {
			return err
		}
		return fmt.Errorf("%d %s", answer.StatusCode, why.Reason)
	}
	// The connection stands before the clock starts, as at the peers.
	if err := send(0); err != nil {
		return err
	}

	usage, start := cpu(), time.Now()
	var next, failed atomic.Int64
	var group sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				number := int(next.Add(1)) - 1
				if number >= count {
					return
				}
				if err := send(number); err != nil {
					failed.Add(1)
				}
			}
		}()
	}
	group.Wait()
	wall := time.Since(start).Seconds()
	if failed.Load() > 0 {
		return fmt.Errorf("%d of %d failed", failed.Load(), count)
	}
	fmt.Printf("cpu %f wall %f\n", cpu()-usage, wall)
	return nil
}

// The paths of the addresses in a file.
func lines(name string) ([]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var paths []string
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		text := scanner.Bytes()
		place := bytes.Index(text, []byte("/3/device/"))
		if place < 0 {
			return nil, fmt.Errorf("%s: %q is no address of a device", name, text)
		}
		paths = append(paths, string(text[place:]))
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s is empty", name)
	}
	return paths, scanner.Err()
}

// CPU seconds that this process has used so far.
func cpu() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}
