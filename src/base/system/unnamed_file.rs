//! Files without a name (`O_TMPFILE` of open(2)), which disappear if the program is killed. Supported by most file
//! systems of Linux.

#[cfg(target_os = "linux")]
pub(crate) use linux::UnnamedFile;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::UnnamedFile;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// Folder of the process's open descriptors: linkat(2) names a file through its entry here.
    const OPEN_FILES: &str = "/proc/self/fd";

    /// An open file that has no name yet.
    #[derive(Debug)]
    pub(crate) struct UnnamedFile(File);

    impl UnnamedFile {
        /// Creates a file on the file system of `folder`; `None` where that is not supported.
        #[must_use]
        pub(crate) fn new_in(folder: &Path) -> Option<UnnamedFile> {
            // The kernel applies the process's umask to this.
            let mode = Mode::from_raw_mode(0o666);
            let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = open(folder, flags, mode).ok().map(File::from)?;
            Path::new(OPEN_FILES).is_dir().then_some(UnnamedFile(file))
        }

        /// Returns the open file.
        #[must_use]
        pub(crate) fn file(&self) -> &File {
            &self.0
        }

        /// Gives the file a name. An existing file is not replaced.
        ///
        /// # Errors
        /// The errors of linkat(2).
        pub(crate) fn link(&self, name: &Path) -> std::io::Result<()> {
            let open = format!("{OPEN_FILES}/{}", self.0.as_raw_fd());
            linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?;
            Ok(())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::convert::Infallible;
    use std::fs::File;
    use std::path::Path;

    /// A file that cannot exist on this system.
    #[derive(Debug)]
    pub(crate) struct UnnamedFile(Infallible);

    impl UnnamedFile {
        /// Returns `None`: the system does not support such files.
        #[must_use]
        pub(crate) fn new_in(_folder: &Path) -> Option<UnnamedFile> {
            None
        }

        /// Returns the open file.
        #[must_use]
        pub(crate) fn file(&self) -> &File {
            match self.0 {}
        }

        /// Gives the file a name.
        ///
        /// # Errors
        /// None: such a file cannot exist.
        pub(crate) fn link(&self, _name: &Path) -> std::io::Result<()> {
            match self.0 {}
        }
    }
}
