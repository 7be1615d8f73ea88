//! What running a program can do, as a set.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// One thing that running a program can do beyond reading files and printing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Prints what is not in files: the environment, other processes.
    Reveals,
    /// Makes or changes files.
    Writes,
    /// Runs code that is not in the command: a script, a build, a helper.
    RunsCode,
    /// Talks to other machines.
    Network,
    /// Acts with more rights than the caller has, or on the whole machine.
    Privilege,
    /// Deletes, ends or overwrites what cannot be had back.
    Destructive,
    /// Works on everything beneath what it is given.
    Sweeping,
    /// Nobody knows: an unknown program, flag or word.
    Unknown,
}

impl Class {
    /// All of them, from the mildest to the gravest.
    pub const ALL: [Class; 8] = [
        Class::Sweeping,
        Class::Reveals,
        Class::Writes,
        Class::RunsCode,
        Class::Network,
        Class::Privilege,
        Class::Destructive,
        Class::Unknown,
    ];

    /// Its name, as the table and the explanations spell it.
    pub fn name(self) -> &'static str {
        match self {
            Class::Reveals => "reveals",
            Class::Writes => "writes",
            Class::RunsCode => "runs",
            Class::Network => "network",
            Class::Privilege => "privilege",
            Class::Destructive => "destructive",
            Class::Sweeping => "sweeping",
            Class::Unknown => "unknown",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of classes. The empty set is read-only: it reads files and prints.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Classes(u8);

impl Classes {
    /// Reads files and prints, nothing else.
    pub const READ_ONLY: Classes = Classes(0);

    /// A set of one.
    pub const fn only(class: Class) -> Classes {
        Classes(class.bit())
    }

    /// A set from its bits; for the table, which is written when the crate is built.
    pub(crate) const fn from_bits(bits: u8) -> Classes {
        Classes(bits)
    }

    /// True when the class is in it.
    pub const fn contains(self, class: Class) -> bool {
        self.0 & class.bit() != 0
    }

    /// True when it holds everything that the other holds.
    pub const fn covers(self, other: Classes) -> bool {
        self.0 & other.0 == other.0
    }

    /// True when nothing but reading is left. How far the reading goes does not matter.
    pub const fn is_read_only(self) -> bool {
        self.0 & !Class::Sweeping.bit() == 0
    }

    /// The classes in it, from the mildest to the gravest.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        Class::ALL.into_iter().filter(move |it| self.contains(*it))
    }

    /// Its gravest class, if there is any.
    pub fn worst(self) -> Option<Class> {
        self.iter().last()
    }
}

impl BitOr for Classes {
    type Output = Classes;
    fn bitor(self, other: Classes) -> Classes {
        Classes(self.0 | other.0)
    }
}

impl BitOrAssign for Classes {
    fn bitor_assign(&mut self, other: Classes) {
        self.0 |= other.0;
    }
}

impl From<Class> for Classes {
    fn from(class: Class) -> Classes {
        Classes::only(class)
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return out.write_str("read-only");
        }
        for (at, class) in self.iter().enumerate() {
            if at > 0 {
                out.write_str(", ")?;
            }
            out.write_str(class.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Classes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}
