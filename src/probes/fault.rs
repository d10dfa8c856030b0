//! Reasons for which the kernel refuses a definition: one row per reason, with the name that the kernel's sources use.

use std::fmt;

/// An error in a definition, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeError {
    /// The line, from 1.
    pub line: u32,
    /// The column, in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProbeError {
            line,
            column,
            fault,
        } = self;
        write!(f, "line {line}, column {column}: {}", fault.message())?;
        match fault.code() {
            "" => Ok(()),
            code => write!(f, " ({code})"),
        }
    }
}

impl std::error::Error for ProbeError {}

macro_rules! faults {
    ($($name:ident $code:literal $message:literal)*) => {
        /// A reason for which the kernel refuses a definition.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Fault {
            $(#[doc = $message] $name,)*
        }

        impl Fault {
            /// Returns the reason's name in the kernel's sources; empty if it has none there.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Fault::$name => $code,)* }
            }

            /// Returns the reason as a sentence for the user.
            #[must_use]
            pub(crate) fn message(self) -> &'static str {
                match self { $(Fault::$name => $message,)* }
            }
        }
    };
}

faults! {
    UnknownCommand "" "a line begins with p (probe), r (return probe), e (on an event), f (function), t (tracepoint) or -: (remove)"
    NoPlace "" "the place to probe is missing: a symbol, an address or PATH:OFFSET"
    LineTooLong "" "a line may have 4094 bytes at most"
    BadRemoval "" "a removal is -:EVENT or -:GROUP/EVENT"
    NothingToRemove "" "no line before this one defines that event"
    MaxActiveOnEntry "BAD_MAXACT_TYPE" "a number after the letter is only for return probes (r)"
    BadMaxActive "BAD_MAXACT" "what follows r is not a number"
    NoneActive "BAD_MAXACT" "the number after r is 1 or more: 0, documented as the default, is refused (Linux 5.1 and later); leave it out"
    NumberOnFunction "BAD_MAXACT" "f and t take no number (Linux 6.14 and later)"
    MaxActiveTooBig "MAXACT_TOO_BIG" "the number after r is 4096 at most"
    BadPlace "BAD_PROBE_ADDR" "this is neither a symbol, with an offset perhaps, nor an address"
    PlaceWithSize "BAD_PROBE_ADDR" "the function's size after /, which stack traces print, is not part of a place: leave it out"
    ReturnNotAtEntry "BAD_RETPROBE" "a return probe must be at the function's entry: no offset"
    BadPlaceSuffix "BAD_ADDR_SUFFIX" "only %return can follow a symbol"
    BadTracepoint "BAD_TP_NAME" "a tracepoint's name is made of letters, digits and _"
    BadEventPlace "NO_EVENT_INFO" "an event is named as SYSTEM.EVENT"
    NoFilter "NO_EP_FILTER" "the filter is missing after if"
    BadFileOffset "BAD_UPROBE_OFFS" "the offset in the file is not a number"
    CounterNotClosed "REFCNT_OPEN_BRACE" "the bracket around the counter's offset is not closed"
    CounterSuffix "BAD_REFCNT_SUFFIX" "nothing can follow the counter's offset"
    BadCounter "BAD_REFCNT" "the counter's offset is not a number"
    NoGroup "NO_GROUP_NAME" "the group's name before / is missing"
    GroupTooLong "GROUP_TOO_LONG" "a group's name has 63 characters at most"
    BadGroup "BAD_GROUP_NAME" "a group's name is made of letters, digits, _ and -, and begins with a letter or _"
    NoEvent "NO_EVENT_NAME" "the event's name after : is missing"
    EventTooLong "EVENT_TOO_LONG" "an event's name has 63 characters at most"
    BadEvent "BAD_EVENT_NAME" "an event's name is made of letters, digits and _, and begins with no digit"
    ReturnValueOnEntry "RETVAL_ON_PROBE" "$retval is only for return probes"
    BadStackNumber "BAD_STACK_NUM" "the stack has entries 0 to 2048"
    BadArgumentNumber "BAD_ARG_NUM" "arguments are counted from 1 to 2048"
    ArgumentNotAtEntry "NOFENTRY_ARGS" "$argN and $arg* are only for probes at a function's entry (Linux before 6.9; never with an offset)"
    NoDeclaration "NOSUP_BTFARG" "arguments have names only at a kernel function's entry and return, on kernels with BTF"
    UnknownName "NO_BTFARG" "no argument of a function can have this name"
    FieldOfNoPointer "NOSUP_DAT_ARG" "an argument's fields are reached through a pointer: write -> instead of ."
    LoneHyphen "BAD_HYPHEN" "a lone - has no meaning here: a field of a pointer's target is written ->"
    AllNotAlone "BAD_VAR_ARGS" "$arg* must be alone: without a name, a type or brackets"
    AllTwice "DOUBLE_ARGS" "$arg* can be used once only"
    BadVariable "BAD_VAR" "there is no such variable: $stack, $stackN, $argN, $arg*, $retval and $comm are known"
    BadRegister "BAD_REG_NAME" "no architecture of Linux has this register"
    BadAddress "BAD_MEM_ADDR" "this is neither an address nor a symbol in memory"
    BadImmediate "BAD_IMM" "a constant is a number, with a sign perhaps"
    ImmediateNotClosed "IMMSTR_NO_CLOSE" "the text is not closed by a quotation mark"
    FileOffsetInKernel "FILE_ON_KPROBE" "an offset in a file is only for probes in programs"
    BadOffsetInFile "BAD_FILE_OFFS" "the offset in the file is not a number"
    SymbolInProgram "SYM_ON_UPROBE" "a symbol's memory is only for probes in the kernel"
    TooDeep "TOO_MANY_OPS" "memory is followed too often: a fetch has 15 steps at most"
    NoBracket "DEREF_NEED_BRACE" "an offset must be followed by ( and what it is added to"
    BadOffset "BAD_DEREF_OFFS" "the offset before ( is not a number"
    BracketNotClosed "DEREF_OPEN_BRACE" "the bracket is not closed"
    CommNotFollowed "COMM_CANT_DEREF" "$comm and texts are not addresses"
    BadFetch "BAD_FETCH_ARG" "this does not name a value to fetch"
    ArrayNotClosed "ARRAY_NO_CLOSE" "the array's ] is missing"
    ArraySuffix "BAD_ARRAY_SUFFIX" "nothing can follow the array's ]"
    BadArrayNumber "BAD_ARRAY_NUM" "the number of elements is 1 or more"
    ArrayTooBig "ARRAY_TOO_BIG" "an array has 64 elements at most"
    BadType "BAD_TYPE" "there is no such type"
    NotInMemory "BAD_STRING" "texts and arrays are read from memory: write +0(...) around the address"
    UserArray "BAD_STRING" "arrays of numbers are not read from a program's memory (+u): only texts are"
    BadSymbolText "BAD_SYMSTRING" "symstr needs an address: a register, an argument, an entry of the stack or the kernel's memory"
    BadBits "BAD_BITFIELD" "a bit field is bWIDTH@OFFSET/SIZE, within its SIZE bits"
    ArgumentNameTooLong "ARG_NAME_TOO_LONG" "an argument's name has 32 characters at most"
    NoArgumentName "NO_ARG_NAME" "the argument's name before = is missing"
    BadArgumentName "BAD_ARG_NAME" "an argument's name is made of letters, digits and _, and begins with no digit"
    ArgumentNameUsed "USED_ARG_NAME" "another argument, or a field that every event has, has this name"
    ArgumentTooLong "ARG_TOO_LONG" "an argument has 63 characters at most"
    NoArgumentBody "NO_ARG_BODY" "what to fetch is missing after ="
    NeedsText "NEED_STRING_TYPE" "$comm and texts are of type string only, and no arrays"
    TooManyArguments "TOO_MANY_ARGS" "a probe has 128 arguments at most"
    OtherSort "DIFF_PROBE_TYPE" "an event of this name is a probe of the other kind (entry or return)"
    OtherArguments "DIFF_ARG_TYPE" "an event of this name has other arguments"
    SameProbe "SAME_PROBE" "this probe is defined already"
}
