"""Print formats over one set of fields, as events of a trace.dat, for compare.py.

Each case is a code and a print fmt. The code says why trace-cmd's text is not ours, blank if both must agree:
"""

import random
import re

import writer

REASONS = {
    "B": "numbers and pointers in the other byte order are not swapped",
    "C": "conversions that are not known stay in the text, and shift the arguments behind them",
    "D": "division by zero ends trace-cmd",
    "E": "elements behind casts, and pointers to data",
    "F": "the library cannot parse it; we evaluate it, or list the fields",
    "I": "longs of 32-bit kernels are computed and shown with 64 bits",
    "L": "escapes and character constants",
    "M": "fields that are not there, and what follows the arguments",
    "N": "the function is a plugin's, which -N leaves out",
    "O": "an operator that is parsed but not computed",
    "P": "a - b - c, a & (b | c) and a ? b : c ? d : e are grouped in another way than in C",
    "S": "fields are read without their sign",
    "U": "names that the format leaves unresolved match 0; for the kernel they match nothing",
    "T": "table rows with negative values, and with the highest bit",
}

FORMAT = """name: %s
ID: %d
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

%s
print fmt: %s
"""

CASES = r'''
  "%d", REC->i
  "%d %u %x %X %o %i", REC->i, REC->u, REC->i, REC->u, REC->u, REC->i
C "%5d|%-5d|%05d|%+d|% d|%8.3d|%.2x", REC->i, REC->i, REC->i, REC->i, REC->i, REC->i, REC->i
  "%5u|%-8u|%08u|%3u", REC->u, REC->u, REC->u, REC->u
  "%#x %#X %#o %#010x %#lx %#llx", REC->u, REC->u, REC->u, REC->u, REC->ip, REC->q
  "%hd %hu %hx %hhd %hhu %hhx", REC->i, REC->i, REC->i, REC->i, REC->i, REC->i
I "%ld %lu %lx %lld %llu %llx %Lu %Ld %Lx", REC->sl, REC->ip, REC->ip, REC->sq, REC->q, REC->q, REC->q, REC->sq, REC->q
I "%zu %zd %zx %Zu", REC->sz, REC->ssz, REC->sz, REC->sz
C "%td %ju", REC->sl, REC->q
C "%c", REC->c
C "%c%c tail %d", REC->c, REC->b, REC->i
C "%5c|%d", REC->c, REC->i
  "%p %p", REC->p, REC->ip
  "%10p|%-20p|%016p", REC->p, REC->p, REC->p
C "%px %d", REC->p, REC->i
C "%pK %d", REC->p, REC->i
C "%pB %d", REC->p, REC->i
  "%pV %d", REC->p, REC->i
C "%pe %d", REC->p, REC->i
C "%pd %d", REC->p, REC->i
C "%pD2 %d", REC->p, REC->i
C "%pg %d", REC->p, REC->i
C "%pGp %d", REC->p, REC->i
  "%pC %d", REC->p, REC->i
  "%pfw %d", REC->p, REC->i
  "%pOF %d", REC->p, REC->i
  "%pt %d", REC->p, REC->i
  "%ps %pS %pf %pF %pSR %psR", REC->p, REC->p, REC->p, REC->p, REC->p, REC->p
  "%ps|%30ps|%-30pS|", REC->ip, REC->ip, REC->ip
  "%ps %pS", (void *)REC->ip, (void *)REC->q
  "%pM %pMR %pMF %pm %pmR", REC->mac, REC->mac, REC->mac, REC->mac, REC->mac
  "%pM", REC->ip4
  "%pI4 %pi4 %pI4h %pI4n %pI4b %pI4l %pi4h", REC->ip4, REC->ip4, REC->ip4, REC->ip4, REC->ip4, REC->ip4, REC->ip4
  "%pI4", REC->u
F "%pI4 %pI4", &REC->u, &REC->ip4
  "%pI6 %pi6 %pI6c", REC->ip6, REC->ip6, REC->ip6
  "%pI6c", REC->mac
  "%pI6c:%u", REC->ip6, REC->u
B "%pIS %pISc %pISp %pISpc", REC->sa, REC->sa, REC->sa, REC->sa
C "%pISpfc %pISpfsc %pIShp", REC->sa, REC->sa, REC->sa
B "%pISpc %pIS", __get_sockaddr(sad), __get_sockaddr(sad)
  "%pU %pUb %pUB %pUl %pUL", REC->uuid, REC->uuid, REC->uuid, REC->uuid, REC->uuid
  "%pU", REC->ip4
C "%*ph|%d", REC->nr, REC->mac, REC->i
  "%*ph|%*phC|%*phD|%*phN|%d", 4, __get_dynamic_array(bytes), 4, __get_dynamic_array(bytes), REC->nr, __get_dynamic_array(bytes), 3, __get_dynamic_array(bytes), REC->i
  "%*ph", (int)__get_dynamic_array_len(bytes), __get_dynamic_array(bytes)
C "%3ph|%6phC|%phD|%d", REC->mac, REC->mac, REC->mac, REC->i
C "%*pb %d", 8, REC->mac, REC->i
C "%*pbl %d", 8, REC->mac, REC->i
  "%s", REC->comm
  "%s|%20s|%-20s|%.3s|%5.2s|", REC->comm, REC->comm, REC->comm, REC->comm, REC->comm
  "%.*s|%*s|%-*s|", 3, REC->comm, 20, REC->comm, 20, REC->comm
  "%.*s|", REC->nr, __get_str(name)
F "%*.*s|", 10, 3, REC->comm
  "%*d|%*x|%0*x|%-*d|", 8, REC->i, 8, REC->u, 8, REC->u, 8, REC->i
  "%*d|", REC->nr, REC->i
  "%.*d|", 5, REC->i
B "%s %s %s", __get_str(name), REC->str, __get_rel_str(rname)
  "%20s|%-20s|%.2s|", __get_str(name), __get_str(name), __get_str(name)
B "%s", REC->ip
B "%s", REC->q
E "%s", (char *)REC->ip
E "%s", (const char *)__get_str(name)
  "%s", REC->i ? "yes" : "no"
  "%s", REC->i ? __get_str(name) : REC->comm
P "%s", REC->i > 4 ? "big" : REC->i > 2 ? "mid" : "small"
P "%s", (REC->i > 4) ? "big" : (REC->i > 2) ? "mid" : "small"
S "%s", REC->i > 4 ? "big" : (REC->i > 2 ? "mid" : "small")
  "%s", REC->i == 1 ? "one" : "other"
  "%s", !REC->i ? "zero" : "nonzero"
  "%s", REC->i && REC->u ? "both" : "not both"
  "%s", REC->i || REC->u ? "one" : "none"
  "%s", (REC->i & 1) ? "odd" : "even"
  "%s", REC->i & 1 ? "odd" : "even"
  "%s", (REC->i & (1 << 1)) ? "bit1" : ""
  "%s", REC->flag ? "true" : "false"
  "%d", REC->i ? 5 : 6
S "%d", REC->i > 3 ? REC->u : REC->i
S "%s %d", REC->i < 0 ? "neg" : "pos", REC->i < 0 ? -REC->i : REC->i
  "%d", REC->i + 1
  "%d", REC->i + 1 * 2
  "%d", REC->i * 2 + 1
  "%d", (REC->i + 1) * 2
P "%d", REC->i - 1 - 2
  "%d", REC->i - (1 - 2)
P "%d", REC->i / 3 * 3
S "%d", REC->i % 7
  "%d", REC->i << 2
  "%d", REC->u >> 2
  "%d", REC->i << 2 | 1
  "%d", REC->i | 1 << 2
  "%d", REC->i & 7 | 8
P "%d", REC->i & (7 | 8)
O "%d", REC->i ^ 5
  "%d", ~REC->i
  "%d", -REC->i
  "%d", !REC->i
S "%d %d %d", REC->i == 3, REC->i != 3, REC->i >= 3
S "%d %d %d", REC->i < 3, REC->i <= 3, REC->i > 3
  "%d", REC->i == 3 || REC->i == 4
  "%d", REC->i > 1 && REC->i < 4
  "%llu.%06llu", REC->q / 1000000, REC->q % 1000000
D "%llu.%03llu", REC->q / 1000000000ULL, REC->q / 1000000 % 1000
  "%llx", REC->q << 4
  "%llx", (unsigned long long)REC->u << 12
S "%lx", (unsigned long)REC->i
S "%llx", (u64)REC->i
S "%llx", (unsigned long long)REC->h
  "%d", (int)REC->q
  "%u", (u8)REC->u
  "%u", (u16)REC->u
  "%u", (u32)REC->q
S "%d", (s8)REC->u
S "%d", (s16)REC->u
  "%d", (s32)REC->q
S "%d", (char)REC->u
S "%d", (short)REC->u
  "%d", (unsigned short)REC->u
  "%d", (unsigned char)REC->u
  "%u", (unsigned)REC->q
S "%lu", (long)REC->i
  "%d,%d", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1)))
  "%d:%d", (int)(REC->dev >> 20), (int)(REC->dev & 0xfffff)
  "%x", REC->u & 0xff
  "%x", REC->u & ~0xff
  "%x", REC->u & ~(0xff | 0x100)
  "%x", 0xff & REC->u
  "%lu", sizeof(int) + REC->nr
  "%lu %lu", sizeof(long), sizeof(unsigned long)
  "%lu", sizeof(unsigned int)
F "%lu", sizeof(u32)
F "%lu", sizeof(struct foo *)
  "%lu", sizeof(REC->i)
F "%lu", sizeof(REC->comm)
  "%u %u %u", REC->w[0], REC->w[1], REC->w[3]
  "%u %u", REC->d[0], REC->d[2]
  "%lx %lx", REC->l[0], REC->l[2]
  "%d %d", REC->arr[0], REC->arr[2]
  "%x:%x:%x", REC->mac[0], REC->mac[1], REC->mac[5]
C "%c%c", REC->comm[0], REC->comm[1]
  "%x", ((u8 *)REC->mac)[2]
E "%x", ((u16 *)REC->mac)[1]
E "%d", REC->mac[REC->i]
  "%u", ((u32 *)__get_dynamic_array(words))[0]
E "%u", ((u32 *)__get_dynamic_array(words))[1]
  "%x %x", ((u8 *)__get_dynamic_array(bytes))[0], ((u8 *)__get_dynamic_array(bytes))[1]
F "%x", *(u32 *)__get_dynamic_array(words)
F "%x", *(u32 *)REC->mac
  "%d", __get_dynamic_array_len(name)
  "%d", __get_dynamic_array_len(words) / 4
F "%d", __get_dynamic_array_len(words) / sizeof(u32)
E "%s", __get_str(name)[0] ? "full" : "empty"
  "%s", __print_flags(REC->u, "|", { 1, "A" }, { 2, "B" }, { 4, "C" })
  "%s", __print_flags(REC->u, "", { 1, "A" }, { 2, "B" }, { 0x30, "M" })
  "%s", __print_flags(REC->u, ":", { 0, "Z" }, { 1, "A" })
  "%s", __print_flags(REC->u, "|", { (1 << 0), "A" }, { (1 << 1) | (1 << 2), "BC" }, { 1UL << 3, "D" }, { 1ULL << 40, "E" })
T "%s", __print_flags(REC->q, "|", { 1ULL << 63, "TOP" }, { 1ULL << 40, "E" }, { 1, "A" })
F "%s", __print_flags_u64(REC->q, "|", { 1ULL << 40, "E" }, { 1, "A" })
T "%s", __print_flags(REC->i, "|", { -1, "ALL" }, { 1, "A" })
U "%s", __print_flags(REC->u, "|", { SOME_NAME, "X" }, { 1, "A" })
U "%s", __print_flags(REC->u, "|", { 1, "A" }, { SOME_NAME, "X" })
  "%s", __print_flags(REC->u & 3, "|", { 1, "A" }, { 2, "B" })
P "%s", __print_flags(REC->u & (3 | 8), "|", { 1, "A" }, { 8, "B" })
  "%s", __print_flags((unsigned long)REC->i, "|", { 1, "A" })
  "%s", REC->u ? __print_flags(REC->u, "|", { 1, "A" }, { 2, "B" }) : "none"
  "%s", (REC->u) ? __print_flags(REC->u, "|", { 1, "A" }, { 2, "B" }) : "none"
  "%20s|%-20s|", __print_flags(REC->u, "|", { 1, "A" }, { 2, "B" }), __print_symbolic(REC->u, { 1, "one" }, { 2, "two" })
  "%.2s|", __print_symbolic(REC->u, { 1, "one" }, { 2, "two" })
T "%s", __print_symbolic(REC->i, { 1, "one" }, { 2, "two" }, { -1, "minus" })
S "%s", __print_symbolic(REC->i, { -2, "m2" }, { 0, "zero" })
T "%s", __print_symbolic(REC->sq, { -1, "m1" }, { -2, "m2" }, { 0, "zero" })
S "%s", __print_symbolic(REC->i, { SOME, "some" }, { OTHER, "other" })
  "%s", __print_symbolic(REC->q, { 0x100000000ULL, "big" }, { 1, "one" })
F "%s", __print_symbolic_u64(REC->q, { 1, "one" })
  "%s", __print_symbolic(REC->i, { 'a', "a" }, { 0x10, "hex" }, { 010, "oct" })
S "%s", __print_symbolic(REC->i >> 1, { 1, "one" }, { 2, "two" })
  "%s", __print_symbolic(REC->i & 0xf, { 1, "one" }, { 2, "two" })
F "%s", __print_symbolic(REC->nr, { 1 + 1, "two" }, { 2 * 2, "four" }, { (3) , "three" }, { ( 1 << 3 ) - 1, "seven" })
  "%s", __print_symbolic(HI_SOFTIRQ, { HI_SOFTIRQ, "HI" }, { TIMER_SOFTIRQ, "T" })
  "%s", __print_symbolic(REC->nr, { HI_SOFTIRQ, "HI" }, { TIMER_SOFTIRQ, "T" }, { RCU_SOFTIRQ, "RCU" })
L "%s", __print_symbolic(REC->nr, { 1, "con" "cat" }, { 2, "tab\tbed" }, { 3, "q\"uote" }, { 4, "back\\slash" }, { 5, "nl\n" })
  "%s", __print_symbolic(REC->nr, { 1, "a" }, { 2, "b" } )
  "%s", __print_symbolic(REC->nr, {1,"a"},{2,"b"})
  "%s", __print_hex(REC->mac, 6)
  "%s", __print_hex_str(REC->mac, 6)
F "%s", __print_hex(REC->mac, sizeof(REC->mac))
  "%s|%s", __print_hex(__get_dynamic_array(bytes), __get_dynamic_array_len(bytes)), __print_hex_str(__get_dynamic_array(bytes), __get_dynamic_array_len(bytes))
  "%20s|", __print_hex(REC->mac, 3)
B "%s", __print_array(REC->w, 4, 2)
B "%s", __print_array(REC->d, 3, 4)
  "%s", __print_array(REC->mac, 6, 1)
F "%s", __print_array(REC->d, 3, sizeof(u32))
B "%s", __print_array(__get_dynamic_array(words), __get_dynamic_array_len(words) / 4, 4)
F "%s", __print_array(__get_dynamic_array(words), __get_dynamic_array_len(words) / sizeof(u32), sizeof(u32))
F "%s", __print_dynamic_array(words, 4)
F "%s", __print_hex_dump("hex: ", DUMP_PREFIX_OFFSET, 16, 1, __get_dynamic_array(bytes), __get_dynamic_array_len(bytes), false)
F "%llu", __print_ns_to_secs(REC->q)
F "%llu.%09u", __print_ns_to_secs(REC->q), __print_ns_without_secs(REC->q)
  "%s", __get_bitmask(cpus)
  "%s|%30s|", __get_bitmask(cpus), __get_bitmask(cpus)
  "%s", __get_bitmask(mask)
  "%s", __get_cpumask(mask)
  "%s", __get_rel_str(rname)
  "%s %d", __get_bitmask(cpus), __get_dynamic_array_len(cpus)
  "%d%%", REC->i
  "100%% %d %%d", REC->i
  "tab\t nl\n quote\" back\\ %d\n", REC->i
L "\x41 \101 \e[0m %d", REC->i
  "a" "b" "%d", REC->i
  "%d" " " "%d", REC->i, REC->u
  "no arguments"
  ""
F "%d"
F "%d %d", REC->i
F "%s", unknown_function(REC->i)
F "%s %d", unknown_function(REC->i, REC->u), REC->i
M "%d", REC->nosuchfield
M "%s", __get_str(nosuchfield)
M "%d %d", REC->i, REC->nosuch
F "%d", REC->i,
M "%d", REC->i REC->u
F "%d" REC->i
F "%d", (REC->i
M "%d", REC->i)
F "%d", REC->i +
F "%d", ({ int x = REC->i; x; })
F "%d", REC->i = 3
F "%d", REC->i++
F "%d", __builtin_constant_p(REC->i) ? 1 : 2
  "%d", __builtin_expect(REC->i, 0)
  "%s", __builtin_expect(!!(REC->i), 0) ? "yes" : "no"
F "%d", __builtin_choose_expr(1, REC->i, REC->u)
N "%s", jbd2_dev_to_name(REC->dev)
N "%u", jiffies_to_msecs(REC->u)
N "%s", scsi_trace_parse_cdb(p, __get_dynamic_array(bytes), __get_dynamic_array_len(bytes))
N "%s", xen_hypercall_name(REC->nr)
F "%d", le16_to_cpu(REC->h)
E "%d", __le16_to_cpup(REC->mac)
N "%u", is_writable_pte(REC->q)
F "%s", libata_trace_parse_status(p, REC->nr)
F "%p", &REC->i
E "%p", __get_dynamic_array(bytes)
  "%s", "literal"
  "%s %s", "literal", "two"
  "%d", 42
  "%d %d", 1 + 2 * 3, (1 + 2) * 3
  "%d", 0x10 | 1
  "%u", 5U
I "%lu", 5UL << 33
L "%d", 'A'
  "%d", SOME_MACRO
  "%p", some_symbol
  "%lx", vmemmap_base + REC->u
  "%p", (((struct page *)vmemmap_base) + (REC->q))
  "%d", (int) (REC->i)
  "%d", (REC)->i
  "%d", ((REC)->i)
  "%u", (unsigned int)(REC->i)
  "%u", (u32)(REC->q >> 32)
  "%s", (1) ? "a" : "b"
  "%s", ((void *)0) ? "a" : "b"
  "%s", REC->p ? "set" : "null"
  "%s", REC->p == ((void *)0) ? "null" : "set"
  "%s", REC->p != NULL ? "set" : "null"
  "%llu", REC->q > 100 ? REC->q : 0ULL
  "%s%s", REC->i & 1 ? "a" : "", REC->i & 2 ? "b" : ""
P "%s", REC->i & 1 ? "a" : REC->i & 2 ? "b" : "c"
  "%s%s%s", (REC->u & 1) ? "r" : "-", (REC->u & 2) ? "w" : "-", (REC->u & 4) ? "x" : "-"
  "%-5s|%5s|", REC->i ? "y" : "n", REC->i ? "y" : "n"
  "%3d%%|%-3d%%", REC->nr, REC->nr
  "%s, %d", REC->comm, REC->i
  "a=%d, b=0x%x, c=0x%lx", REC->i, REC->u, REC->ip
S "i=0x%x u=%#x ip=0x%lx q=0x%llx sq=%lld h=%d b=0x%x p=%p", REC->i, REC->u, REC->ip, REC->q, REC->sq, REC->h, REC->b, REC->p
S "h=%d h=%u h=%x h=%hd h=%hu", REC->h, REC->h, REC->h, REC->h, REC->h
S "c=%d c=%u c=%x c=%hhd", REC->c, REC->c, REC->c, REC->c
  "%5.5s|%-10.4s|", REC->comm, __get_str(name)
S "%ld %ld", (long)REC->h, (long)REC->sl
  "%lu", REC->ip % 1000
S "%s", REC->i == -1 ? "m1" : "no"
  "%s", REC->sq == -1 ? "m1" : "no"
S "%s", REC->sq < 0 ? "neg" : "pos"
S "%s", (int)REC->i < 0 ? "neg" : "pos"
S "%d", REC->i >= 0 ? REC->i : 0
S "%lld", REC->sq / 2
S "%d", REC->i / 2
S "%d", REC->i >> 1
S "%lld", REC->sq >> 1
  "%lld", -REC->sq
  "%x %x", (REC->u >> 8) & 0xff, REC->u >> 8 & 0xff
P "%d", (REC->i == 2) + (REC->u == 3)
P "%d", REC->i * -1
  "%d", REC->i + -1
  "%d", -1
  "%d", - 1 + 2
  "%d", !(REC->i == 2)
  "%d", !!REC->i
  "%d", ~0 & REC->i
  "%u", REC->u ? REC->u - 1 : 0
  "%u", (REC->u ? REC->u : 1)
  "%u", ((REC->u) ? (REC->u) : (1))
  "%llu", ((u64)REC->u) * 4096
I "%lu", (REC->ip << (12 - 10))
I "%lu", REC->ip << (12 - 10)
I "%lu K", REC->ip * (4096 / 1024)
  "%lu", (1UL << REC->nr)
  "%d", 1 << REC->nr
  "%s (%d)", __print_symbolic(REC->nr, { 0, "zero" }, { 1, "one" }), REC->nr
  "%s", __print_symbolic(REC->nr, { 0, "zero" }, { 1, "one" }, { 0, ((void *)0) })
  "%s", __print_symbolic(REC->nr, { 1, "first" }, { 1, "second" })
  "%s", __print_flags(REC->nr, " ", { 1, "x" }, { 1, "y" }, { 3, "z" })
'''.strip("\n").split("\n")


PER_CASE = 8


def fields(long):
    """(declaration, size, whether it is signed) of the fields that every case has."""
    return [
        ("unsigned long ip", long, 0), ("int i", 4, 1), ("unsigned int u", 4, 0), ("s16 h", 2, 1),
        ("u8 b", 1, 0), ("char c", 1, 1), ("u64 q", 8, 0), ("s64 sq", 8, 1), ("void * p", long, 0),
        ("char comm[16]", 16, 0), ("u8 mac[6]", 6, 0), ("u8 ip4[4]", 4, 0), ("u8 ip6[16]", 16, 0),
        ("u8 uuid[16]", 16, 0), ("u8 sa[28]", 28, 0), ("u16 w[4]", 8, 0), ("u32 d[3]", 12, 0),
        ("unsigned long l[3]", 3 * long, 0), ("int arr[3]", 12, 1), ("long sl", long, 1),
        ("bool flag", 1, 0), ("unsigned char nr", 1, 0), ("__data_loc char[] name", 4, 1),
        ("__data_loc u8[] bytes", 4, 0), ("__data_loc u32[] words", 4, 0),
        ("__data_loc unsigned long[] cpus", 4, 0), ("__data_loc __u8[] sad", 4, 0),
        ("__data_loc cpumask_t *[] mask", 4, 0), ("__rel_loc char[] rname", 4, 1),
        ("const char * str", long, 0), ("enum zone z", 4, 0), ("pid_t pid", 4, 1),
        ("size_t sz", long, 0), ("ssize_t ssz", long, 1), ("dev_t dev", 4, 0),
    ]  # fmt: skip


def layout(long):
    """[(declaration, offset, size, signed)] and where the dynamic data begin."""
    at, out = 8, []
    sizes = {"u8": 1, "char": 1, "u16": 2, "u32": 4, "int": 4, "unsigned long": long}
    for declaration, size, signed in fields(long):
        element = size
        if "[" in declaration and not declaration.startswith("__"):
            element = sizes[re.sub(r" \w+\[.*", "", declaration)]
        at += -at % element
        out.append((declaration, at, size, signed))
        at += size
    return out, at


def header_page(long):
    return (
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        f"\tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n"
        "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
        f"\tfield: char data;\toffset:{8 + long};\tsize:{4088 - long};\tsigned:1;\n"
    ).encode()


HEADER_EVENT = b"""# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""


def metadata(endian, long, print_fmts):
    meta = writer.Metadata()
    meta.endian, meta.long = endian, long
    meta.header_page, meta.header_event = header_page(long), HEADER_EVENT
    lines = "".join(
        "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % field for field in layout(long)[0]
    )
    texts = [
        (FORMAT % ("case%d" % i, 100 + i, lines, print_fmt)).encode()
        for i, print_fmt in enumerate(print_fmts)
    ]
    meta.systems = [(b"cases", texts)]
    base = symbols_at(long)
    names = ["_text", "vfs_read", "do_sys", "mod_fn\t[mod]", "some_symbol"]
    rows = ["%x T %s\n" % (base + 0x100 * i, name) for i, name in enumerate(names)]
    meta.kallsyms = "".join(rows).encode()
    meta.printk = b'0x%x : "a constant\\n"\n' % (base + 0x5000)
    meta.cmdlines = b"1 init\n"
    return meta


def symbols_at(long):
    return 0xFFFFFFFF81000000 if long == 8 else 0xC1000000


def payload(endian, long, number, turn, chance):
    """A record of the case `number`."""

    def u(value, size):
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, endian)

    base = symbols_at(long)
    places, end = layout(long)
    out, extra = bytearray(end), b""
    out[0:2], out[4:8] = u(100 + number, 2), u(1, 4)
    dynamic = {
        "name": [b"hello\0", b"\0", b"a longer string\0"],
        "rname": [b"rel\0"],
        "bytes": [bytes([1, 2, 250, 0, 5]), bytes([0x28, 0, 0, 0, 1, 2, 0, 0, 3, 0])],
        "words": [u(1, 4) + u(0xFFFFFFFE, 4), u(7, 4) * 3],
        "cpus": [u(5, long), u(1 << (long * 8 - 1) | 0x30, long) + u(1, long)],
        "mask": [u(0xF1, long)],
        "sad": [
            u(2, 2) + b"\x1f\x90\x0a\0\0\1" + bytes(8),
            u(10, 2) + b"\0\x50" + bytes(4) + b"\xfe\x80" + bytes(13) + b"\1" + bytes(4),
        ],
    }
    fixed = {
        "comm": [b"bash", b"", b"fifteen_chars_x", b"a b"],
        "sa": [
            u(2, 2) + b"\0\x50\x7f\0\0\1",
            u(10, 2) + b"\1\2" + bytes(4) + b"\x20\1" + bytes(13) + b"\1",
        ],
        "ip6": [
            bytes(16),
            bytes(15) + b"\1",
            b"\x20\1\r\xb8" + bytes(11) + b"\1",
            bytes(10) + b"\xff\xff\x0a\0\0\1",
            bytes(range(16)),
            b"\xfe\x80" + bytes(8) + b"\x5e\xfe\x0a\0\0\1",
        ],
    }
    addresses = [0, base + 0x105, base + 0x5000, base, 0x1234, base + 0x4FF]
    signed = [0, 1, 2, 3, 5, -1, -2, 1000]
    unsigned = [0, 3, 8, 0xFFFFFFFF, 0x12345, 2]
    numbers = {"nr": range(8), "b": [0, 1, 200, 0x41, 255, 7], "c": [65, 0, 97, 0x7E, 10, 255]}
    numbers |= dict.fromkeys(("p", "ip", "str"), addresses)
    numbers |= dict.fromkeys(("i", "h", "sq", "sl", "ssz", "pid"), signed)
    for declaration, at, size, _ in places:
        name = declaration.split()[-1].split("[")[0]
        if name in dynamic:
            data = dynamic[name][turn % len(dynamic[name])]
            extra += bytes(-(end + len(extra)) % 4)
            start = end + len(extra) - (at + 4 if "rel" in declaration else 0)
            out[at : at + 4] = u(len(data) << 16 | start, 4)
            extra += data
        elif name in fixed:
            out[at : at + size] = fixed[name][turn % len(fixed[name])].ljust(size, b"\0")
        elif name in numbers:
            out[at : at + size] = u(numbers[name][turn % len(numbers[name])], size)
        elif name in ("u", "q", "sz", "z", "dev"):
            number = unsigned[turn] if turn < 6 else chance.randrange(1 << 32)
            out[at : at + size] = u(number, size)
        elif name == "flag":
            out[at] = turn & 1
        else:
            out[at : at + size] = bytes(chance.randrange(256) for _ in range(size))
    return bytes(out) + extra


def build(endian, long):
    """The file, and per time stamp the case's code and print fmt."""
    rows = [(line[0], line[2:]) for line in CASES if line[0] != "D"]
    meta = metadata(endian, long, [print_fmt for _, print_fmt in rows])
    chance = random.Random(1)
    events, index, time = [], {}, 10**9
    for number, row in enumerate(rows):
        for turn in range(PER_CASE):
            time += 1000
            events.append((time, payload(endian, long, number, turn, chance)))
            index[time] = row
    return writer.write_v7(meta, {0: writer.pages(endian, events, long)}), index
