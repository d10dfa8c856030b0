//! Messages between `threadline-tracer` and the process that records: each is a text with open files.

use std::io::{IoSlice, IoSliceMut, Read as _, Seek as _, SeekFrom, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// Maximum length of a message's text, in bytes.
const MOST_TEXT: usize = 32 << 10;

/// One end of a channel.
#[derive(Debug)]
pub(crate) struct Channel(OwnedFd);

/// A message.
#[derive(Debug)]
pub(crate) struct Message {
    /// The text; its first word is the kind of the message.
    pub text: String,
    /// The open files.
    pub files: Vec<OwnedFd>,
}

impl Channel {
    /// Returns a channel, and the other end of it.
    ///
    /// # Errors
    /// Those of socketpair(2).
    pub(crate) fn pair() -> std::io::Result<(Channel, OwnedFd)> {
        let (one, other) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        Ok((Channel(one), other))
    }

    /// Returns the channel that this process got as standard input.
    ///
    /// # Errors
    /// If standard input is closed.
    pub(crate) fn of_stdin() -> std::io::Result<Channel> {
        Ok(Channel(std::io::stdin().as_fd().try_clone_to_owned()?))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Those of sendmsg(2).
    pub(crate) fn send(&self, text: &str, files: &[BorrowedFd<'_>]) -> std::io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(std::io::Error::other("too many files in one message"));
        }
        let text = text.as_bytes();
        let text = text.get(..MOST_TEXT).unwrap_or(text);
        sendmsg(
            &self.0,
            &[IoSlice::new(text)],
            &mut control,
            SendFlags::NOSIGNAL,
        )?;
        Ok(())
    }

    /// Receives a message; `None` if the other end was closed.
    ///
    /// # Errors
    /// Those of recvmsg(2).
    pub(crate) fn receive(&self) -> std::io::Result<Option<Message>> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut text = vec![0; MOST_TEXT];
        let received = recvmsg(
            &self.0,
            &mut [IoSliceMut::new(&mut text)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        let mut files = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                files.extend(fds);
            }
        }
        if received.bytes == 0 {
            return Ok(None);
        }
        text.truncate(received.bytes);
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Some(Message { text, files }))
    }

    /// Waits until a message arrives or the other end is closed. Returns `false` if `limit` passed or a signal came
    /// first.
    ///
    /// # Errors
    /// Those of poll(2), except for an interruption by a signal.
    pub(crate) fn wait(&self, limit: Duration) -> std::io::Result<bool> {
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        let limit = Timespec::try_from(limit).ok();
        match poll(&mut fds, limit.as_ref()) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends bytes of any length as a file in memory (memfd).
    ///
    /// # Errors
    /// If there is not enough memory, or the other end is closed.
    pub(crate) fn send_bytes(&self, text: &str, bytes: &[u8]) -> std::io::Result<()> {
        let memory = rustix::fs::memfd_create("threadline", rustix::fs::MemfdFlags::CLOEXEC)?;
        let mut memory = std::fs::File::from(memory);
        memory.write_all(bytes)?;
        self.send(text, &[memory.as_fd()])
    }
}

impl Message {
    /// Returns the bytes that [`Channel::send_bytes`] sent.
    ///
    /// # Errors
    /// If the message contains no file.
    pub(crate) fn bytes(self) -> std::io::Result<Vec<u8>> {
        let file = self.files.into_iter().next();
        let file = file.ok_or_else(|| std::io::Error::other("a file is missing"))?;
        let mut file = std::fs::File::from(file);
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_files_arrive_and_the_end_is_seen() {
        let (one, other) = Channel::pair().unwrap();
        let other = Channel(other);
        one.send("hello", &[]).unwrap();
        let bytes = vec![7; 300_000];
        one.send_bytes("bytes", &bytes).unwrap();
        assert!(other.wait(Duration::from_secs(5)).unwrap());
        assert_eq!(other.receive().unwrap().unwrap().text, "hello");
        let message = other.receive().unwrap().unwrap();
        assert_eq!(message.text, "bytes");
        assert!(message.bytes().unwrap() == bytes);
        assert!(!other.wait(Duration::ZERO).unwrap());
        drop(one);
        assert!(other.receive().unwrap().is_none());
    }
}
