//! `threadline record` of another machine, of which only a shell is needed: through a command, and through ssh.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::recording::{Desk, event_names, nothing_in_kernel, turn, wait_until, words};

#[test]
fn another_machine_needs_nothing_but_a_shell() {
    let Some(_turn) = turn("another_machine_needs_nothing_but_a_shell") else {
        return;
    };
    // This machine, as another one is seen: through a shell.
    let desk = Desk::new();
    let arguments = [
        "--on-command",
        "sh",
        "-e",
        "sched:sched_process_exec",
        "-e",
        "sched_switch",
    ];
    let command = ["--", "sh", "-c", "/bin/true; echo \"it's there\""];
    let output = desk.run(&[&arguments[..], &command].concat());
    assert!(output.status.success(), "{}", words(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "it's there\n");
    let names = event_names(&desk.out());
    for expected in ["sched_process_exec", "sched_switch"] {
        let is_there = names.iter().any(|name| name == expected);
        assert!(is_there, "{expected}: {names:?}");
    }
    nothing_in_kernel();
}

#[test]
fn what_another_machine_refuses_is_a_sentence_and_leaves_nothing() {
    let Some(_turn) = turn("what_another_machine_refuses_is_a_sentence_and_leaves_nothing") else {
        return;
    };
    let filter = ["-e", "sched_switch", "-f", "nothing == 1"];
    let cases: &[(&str, &[&str], &str)] = &[
        ("sh", &["-e", "sched_swich"], "no event 'sched_swich'"),
        ("sh", &filter, "Field not found"),
        ("true", &["-e", "sched_switch"], "no shell there"),
        (
            "/no/such/program",
            &["-e", "sched_switch"],
            "no shell there",
        ),
    ];
    for (shell, arguments, expected) in cases {
        let desk = Desk::new();
        let on = ["--on-command", *shell, "--for", "1s"];
        let output = desk.run(&[&on[..], *arguments].concat());
        let told = words(&output);
        assert!(!output.status.success(), "{shell} {arguments:?}: {told}");
        assert!(told.contains(expected), "{shell} {arguments:?}: {told}");
        assert!(desk.files().is_empty());
        nothing_in_kernel();
    }
}

/// An sshd on the loopback address; it ends with this value.
struct Sshd {
    child: Child,
    folder: tempfile::TempDir,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

impl Sshd {
    /// Starts it; `None`, with a loud word, if there is none.
    fn start(test: &str) -> Option<Sshd> {
        let program = "/usr/sbin/sshd";
        if !Path::new(program).exists() {
            eprintln!("\n=== SKIPPED: {test} needs {program} (openssh-server) ===\n");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)])
                .status();
            assert!(made.unwrap().success());
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let _exists = fs::create_dir_all("/run/sshd");
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PermitRootLogin prohibit-password\nPidFile none\n",
            path("host"),
            path("user.pub")
        );
        fs::write(path("sshd_config"), settings).unwrap();
        let settings = format!(
            "Host other\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {}\n  IdentitiesOnly yes\n  \
             StrictHostKeyChecking no\n  UserKnownHostsFile {}\n  ConnectTimeout 10\n  LogLevel ERROR\n",
            path("user"),
            path("known")
        );
        fs::write(path("config"), settings).unwrap();
        // ssh takes the user's settings from their home folder: this one comes first on the path.
        let script = format!(
            "#!/bin/sh\nexec /usr/bin/ssh -F '{}' \"$@\"\n",
            path("config")
        );
        fs::write(path("ssh"), script).unwrap();
        fs::set_permissions(path("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
        let child = Command::new(program)
            .args(["-D", "-e", "-f", &path("sshd_config")])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut sshd = Sshd { child, folder };
        wait_until("sshd answers", || {
            let ended = sshd.child.try_wait().unwrap();
            assert!(ended.is_none(), "sshd ended: {ended:?}");
            let answer = Command::new(path_of(&sshd, "ssh"))
                .args(["other", "true"])
                .status();
            answer.is_ok_and(|status| status.success())
        });
        Some(sshd)
    }
}

fn path_of(sshd: &Sshd, name: &str) -> String {
    sshd.folder.path().join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_machine_is_recorded_over_ssh() {
    let name = "a_machine_is_recorded_over_ssh";
    let Some(_turn) = turn(name) else { return };
    let Some(sshd) = Sshd::start(name) else {
        return;
    };
    let desk = Desk::new();
    let folder = sshd.folder.path().to_str().unwrap();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let output = desk
        .command(&[
            "--on",
            "ssh:other",
            "--preset",
            "sched",
            "--",
            "sh",
            "-c",
            "/bin/true",
        ])
        .env("PATH", &path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let names = event_names(&desk.out());
    assert!(
        names.iter().any(|name| name == "sched_process_exec"),
        "{names:?}"
    );
    nothing_in_kernel();
    let output = desk
        .command(&[
            "--force",
            "--on",
            "ssh:nowhere.invalid",
            "--preset",
            "sched",
        ])
        .env("PATH", &path)
        .output()
        .unwrap();
    let told = words(&output);
    assert!(
        !output.status.success() && told.contains("no shell there"),
        "{told}"
    );
}
