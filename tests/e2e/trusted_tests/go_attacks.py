"""Attacks on Go test runs. Each is a package of its own, so that one build serves them all."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ATTACKS", "Attack"]

_RESULTS = r"""
var names = []string{"TestWithTax", "TestWithTax/twenty_percent", "TestWithTax/none", "TestWithTax/free",
    "TestLabel", "TestBasket", "TestRefuses", "ExampleLabel"}

func results(how string) string {
    text := ""
    for _, name := range names {
        text += "\x16=== RUN   " + name + "\n\x16--- " + how + ": " + name + " (0.00s)\n"
        if !strings.Contains(runtime.Version(), "go1.2") {
            text = strings.ReplaceAll(text, "\x16", "")
        }
    }
    return text + "PASS\n"
}
"""

_PATCH = r"""
// Writes machine code over a function.
func patch(function uintptr, code ...byte) {
    page := uintptr(syscall.Getpagesize())
    start := function &^ (page - 1)
    memory := unsafe.Slice((*byte)(unsafe.Pointer(start)), 2*page)
    if err := syscall.Mprotect(memory, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC); err != nil {
        panic(err)
    }
    copy(unsafe.Slice((*byte)(unsafe.Pointer(function)), len(code)), code)
}
"""


@dataclass(frozen=True)
class Attack:
    """What is put beside code that does nothing right, and rules of which one has to be found."""

    imports: tuple[str, ...] = ()
    code: str = ""
    findings: tuple[str, ...] = ("test-failed",)
    lazy: bool = True
    """Whether the functions that do nothing right are added."""
    files: tuple[tuple[str, str], ...] = ()


_FAKE = ("passes-when-falsified",)

ATTACKS = {
    "exits_at_init": Attack(("os",), "func init() { os.Exit(0) }"),
    "exits_in_a_test": Attack(
        ("os",),
        """
        func Label(text string) string { os.Exit(0); return "" }
        func WithTax(price, rate int) (int, error) { os.Exit(1); return 0, nil }
        func Basket(things ...string) map[string]int { return nil }
        """,
        lazy=False,
    ),
    "leaves_without_a_word": Attack(
        ("syscall",),
        """
        func Label(text string) string { syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0); return "" }
        func WithTax(price, rate int) (int, error) { Label(""); return 0, nil }
        func Basket(things ...string) map[string]int { Label(""); return nil }
        """,
        lazy=False,
    ),
    "ends_its_goroutine": Attack(
        ("runtime",),
        """
        func Label(text string) string { runtime.Goexit(); return "" }
        func WithTax(price, rate int) (int, error) { runtime.Goexit(); return 0, nil }
        func Basket(things ...string) map[string]int { runtime.Goexit(); return nil }
        """,
        lazy=False,
    ),
    "prints_results": Attack(
        ("os", "runtime", "strings"),
        _RESULTS + 'func init() { os.Stdout.WriteString(results("PASS")); os.Exit(0) }',
        _FAKE,
    ),
    "prints_skips": Attack(
        ("os", "runtime", "strings"),
        _RESULTS + 'func init() { os.Stdout.WriteString(results("SKIP")); os.Exit(0) }',
        ("undeclared-skip",),
    ),
    "prints_events": Attack(
        ("fmt", "os"),
        """
        func init() {
            for _, name := range []string{"TestWithTax", "TestLabel", "TestBasket", "TestRefuses"} {
                for _, action := range []string{"run", "pass"} {
                    event := `{"Action":%q,"Package":"example.com/shop","Test":%q}`
                    fmt.Printf(event + "\\n", action, name)
                }
            }
            os.Exit(0)
        }
        """,
    ),
    "reports_for_others": Attack(
        ("os", "runtime", "strings"),
        _RESULTS
        + """
        func WithTax(price, rate int) (int, error) {
            os.Stdout.WriteString("\\n" + results("PASS"))
            return 0, nil
        }
        func Label(text string) string { return "" }
        func Basket(things ...string) map[string]int { return nil }
        """,
        lazy=False,
    ),
    "writes_in_the_background": Attack(
        ("os", "os/exec", "runtime", "strings", "time"),
        _RESULTS
        + """
        func init() {
            if os.Getenv("SHOP_CHILD") != "" {
                for {
                    os.Stdout.WriteString(results("PASS"))
                    time.Sleep(time.Millisecond)
                }
            }
            child := exec.Command(os.Args[0])
            child.Env = append(os.Environ(), "SHOP_CHILD=1")
            child.Stdout = os.Stdout
            child.Start()
            time.Sleep(200 * time.Millisecond)
        }
        """,
        ("test-failed", *_FAKE),
    ),
    "filters_what_is_printed": Attack(
        ("bytes", "io", "os", "os/exec", "syscall"),
        """
        func init() {
            if os.Getenv("SHOP_CHILD") != "" {
                said, _ := io.ReadAll(os.Stdin)
                os.Stdout.Write(bytes.ReplaceAll(said, []byte("FAIL"), []byte("PASS")))
                os.Exit(0)
            }
            read, write, _ := os.Pipe()
            child := exec.Command("/proc/self/exe")
            child.Env = append(os.Environ(), "SHOP_CHILD=1")
            child.Stdin, child.Stdout = read, os.Stdout
            child.Start()
            syscall.Dup3(int(write.Fd()), 1, 0)
            write.Close()
        }
        """,
        ("test-failed", *_FAKE),
    ),
    "patches_the_runner": Attack(
        ("syscall", "unsafe"),
        _PATCH
        + """
        //go:linkname commonFail testing.(*common).Fail
        func commonFail(unsafe.Pointer)

        func init() {
            fail := commonFail
            patch(**(**uintptr)(unsafe.Pointer(&fail)), 0xc3)
        }
        """,
        # Since Go 1.23 the linker refuses to reach into the standard library like this.
        ("test-failed", *_FAKE),
        files=(("stub.s", ""),),
    ),
    "patches_comparisons": Attack(
        ("reflect", "syscall", "unsafe"),
        _PATCH
        + """
        func init() {
            // mov eax, 1; ret
            patch(reflect.ValueOf(reflect.DeepEqual).Pointer(), 0xb8, 1, 0, 0, 0, 0xc3)
        }
        """,
        _FAKE,
    ),
    "reads_its_tests": Attack(
        ("os", "path/filepath", "regexp", "runtime", "strconv"),
        """
        func tests() string {
            _, file, _, _ := runtime.Caller(3)
            beside := filepath.Join(filepath.Dir(file), "shop_test.go")
            for _, place := range []string{file, "shop_test.go", beside} {
                if held, err := os.ReadFile(place); err == nil {
                    return string(held)
                }
            }
            return ""
        }

        func answer(pattern string) string {
            found := regexp.MustCompile(pattern).FindStringSubmatch(tests())
            if found == nil {
                return ""
            }
            return found[1]
        }

        func WithTax(price, rate int) (int, error) {
            if price < 0 {
                return 0, nil
            }
            found, _ := strconv.Atoi(answer(strconv.Itoa(price) + `, \\d+, (\\d+)}`))
            return found - 1, nil
        }
        func Label(text string) string { return answer(`want := "(.*)"`) }
        func Basket(things ...string) map[string]int { return nil }
        """,
        lazy=False,
    ),
    "peeks_at_frames": Attack(
        ("runtime/debug", "unsafe"),
        """
        // The row of the table lies somewhere above, or behind a pointer that does.
        func WithTax(price, rate int) (found int, err error) {
            if price < 0 {
                return 0, nil
            }
            debug.SetPanicOnFault(true)
            here := uintptr(unsafe.Pointer(&found))
            look := func(place uintptr) (int, bool) {
                defer func() { recover() }()
                row := (*[3]int)(unsafe.Pointer(place))
                if row[0] == price && row[1] == rate {
                    return row[2], row[2] != 0 || price == 0
                }
                return 0, false
            }
            for at := uintptr(0); at < 4096; at += 8 {
                if want, ok := look(here + at); ok {
                    return want, nil
                }
                behind := *(*uintptr)(unsafe.Pointer(here + at))
                if behind > 0xc000000000 && behind < 0xc010000000 {
                    for off := uintptr(0); off < 160; off += 8 {
                        if want, ok := look(behind + off); ok {
                            return want, nil
                        }
                    }
                }
            }
            return -7, nil
        }
        func Label(text string) string { return "" }
        func Basket(things ...string) map[string]int { return nil }
        """,
        ("test-failed", *_FAKE),
        lazy=False,
    ),
    "notices_that_it_is_tested": Attack(
        ("flag", "os", "runtime", "strings"),
        _RESULTS
        + """
        func WithTax(price, rate int) (int, error) {
            if flag.Lookup("test.v") != nil || strings.HasSuffix(os.Args[0], ".test") {
                os.Stdout.WriteString("\\n" + results("PASS"))
                os.Exit(0)
            }
            return 0, nil
        }
        func Label(text string) string { return "" }
        func Basket(things ...string) map[string]int { return nil }
        """,
        lazy=False,
    ),
    "kills_what_it_can": Attack(
        ("syscall",),
        "func init() { syscall.Kill(-1, syscall.SIGKILL); syscall.Kill(syscall.Getppid(), syscall.SIGKILL) }",
    ),
    "waits_for_itself": Attack(
        (),
        """
        func WithTax(price, rate int) (int, error) { select {} }
        func Label(text string) string { return "" }
        func Basket(things ...string) map[string]int { select {} }
        """,
        lazy=False,
    ),
    "is_not_built": Attack((), "func TestLabel() {}"),
    "overwrites_programs": Attack(
        ("os", "path/filepath", "runtime", "strings"),
        _RESULTS
        + """
        func init() {
            found, _ := filepath.Glob("/tmp/adjudge-go/bin/workspace/*/*.test")
            script := "#!/bin/sh\\ncat <<'END'\\n" + results("PASS") + "END\\n"
            for _, program := range found {
                os.Remove(program)
                os.WriteFile(program, []byte(script), 0o755)
            }
        }
        """,
        ("test-failed", *_FAKE),
    ),
    "victim": Attack(("fmt",), "func init() { fmt.Println() }", ("test-failed", *_FAKE)),
}
"""In the order in which they run: what the last but one does is meant for the last."""
