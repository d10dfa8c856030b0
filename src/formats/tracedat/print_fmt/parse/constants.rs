//! Evaluates constant expressions of a print fmt while it is parsed.

use crate::formats::tracedat::print_fmt::eval;
use crate::formats::tracedat::print_fmt::expr::{Binary, Expr};

/// Returns the operator with two operands that is written `op`, and its precedence.
pub(super) fn binary_operator(op: &str) -> Option<(Binary, u8)> {
    Some(match op {
        "||" => (Binary::OrElse, 1),
        "&&" => (Binary::AndAlso, 2),
        "|" => (Binary::Or, 3),
        "^" => (Binary::Xor, 4),
        "&" => (Binary::And, 5),
        "==" => (Binary::Eq, 6),
        "!=" => (Binary::Ne, 6),
        "<" => (Binary::Lt, 7),
        ">" => (Binary::Gt, 7),
        "<=" => (Binary::Le, 7),
        ">=" => (Binary::Ge, 7),
        "<<" => (Binary::Shl, 8),
        ">>" => (Binary::Shr, 8),
        "+" => (Binary::Add, 9),
        "-" => (Binary::Sub, 9),
        "*" => (Binary::Mul, 10),
        "/" => (Binary::Div, 10),
        "%" => (Binary::Rem, 10),
        _ => return None,
    })
}

/// Combines `left` and `right` with an operator.
pub(super) fn combine(operator: Binary, left: Expr, right: Expr) -> Expr {
    let int = match operator {
        Binary::Shl | Binary::Shr => left.int(),
        _ => left.int().common(right.int()),
    };
    fold(Expr::Binary(operator, int, Box::new(left), Box::new(right)))
}

/// Replaces a constant expression by its value.
pub(super) fn fold(expr: Expr) -> Expr {
    let value = match &expr {
        Expr::Unary(op, int, inner) => match **inner {
            Expr::Constant(value, _) => eval::unary(*op, *int, value),
            _ => return expr,
        },
        Expr::Binary(op, int, left, right) => match (&**left, &**right) {
            (Expr::Constant(left, _), Expr::Constant(right, _)) => {
                eval::binary(*op, *int, *left, *right)
            }
            _ => return expr,
        },
        Expr::Cast(width, inner) => match **inner {
            Expr::Constant(value, _) => width.hold(value),
            _ => return expr,
        },
        _ => return expr,
    };
    Expr::Constant(value, expr.int())
}

/// Returns the value of an expression over constants; `None` if it contains a name without a known value.
pub(super) fn constant(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Constant(value, _) => Some(*value),
        Expr::Symbol(name, _) => known_name(name),
        Expr::Unary(op, int, inner) => Some(eval::unary(*op, *int, constant(inner)?)),
        Expr::Binary(op, int, left, right) => {
            Some(eval::binary(*op, *int, constant(left)?, constant(right)?))
        }
        Expr::Cast(width, inner) => Some(width.hold(constant(inner)?)),
        Expr::Pointer(_, inner) => constant(inner),
        _ => None,
    }
}

/// Returns the value of a name that kernels leave unresolved in their tables.
pub(super) fn known_name(name: &str) -> Option<u64> {
    Some(match name {
        "HI_SOFTIRQ" | "HRTIMER_NORESTART" => 0,
        "TIMER_SOFTIRQ" | "HRTIMER_RESTART" => 1,
        "NET_TX_SOFTIRQ" => 2,
        "NET_RX_SOFTIRQ" => 3,
        "BLOCK_SOFTIRQ" => 4,
        "IRQ_POLL_SOFTIRQ" => 5,
        "TASKLET_SOFTIRQ" => 6,
        "SCHED_SOFTIRQ" => 7,
        "HRTIMER_SOFTIRQ" => 8,
        "RCU_SOFTIRQ" => 9,
        _ => return None,
    })
}
