//! A column of a table: values one after the other, in memory or in a mapped model file.
//!
//! While a trace is read, a column is a vector. In a trace that is reopened from a model file, it is a range of that file:
//! the pages are read when they are first used, and nothing is copied. A change copies such a column into memory first.
//!
//! A column serializes to its position in the model file that is being written on the same thread, see [`store`], and only
//! there: other formats get an error.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use bytes::Bytes;
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{self, Serialize, Serializer};

/// A column; it dereferences to its values.
#[derive(Clone)]
pub struct Column<T>(Values<T>);

#[derive(Clone)]
enum Values<T> {
    Owned(Vec<T>),
    /// The bytes of whole values, aligned as the values must be.
    Mapped(Bytes),
}

impl<T> Default for Column<T> {
    fn default() -> Column<T> {
        Column(Values::Owned(Vec::new()))
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(values: Vec<T>) -> Column<T> {
        Column(Values::Owned(values))
    }
}

impl<T> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Column<T> {
        Vec::from_iter(values).into()
    }
}

impl<T: Pod> Extend<T> for Column<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.to_mut().extend(values);
    }
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Values::Owned(values) => values,
            Values::Mapped(bytes) => bytemuck::cast_slice(bytes),
        }
    }
}

impl<T: Pod> DerefMut for Column<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.to_mut()
    }
}

impl<'a, T: Pod> IntoIterator for &'a Column<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Pod> IntoIterator for &'a mut Column<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Pod + PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Column<T>) -> bool {
        **self == **other
    }
}

impl<T: Pod + PartialEq<U>, U> PartialEq<Vec<U>> for Column<T> {
    fn eq(&self, other: &Vec<U>) -> bool {
        **self == **other
    }
}

impl<T: Pod + PartialEq<U>, U, const N: usize> PartialEq<[U; N]> for Column<T> {
    fn eq(&self, other: &[U; N]) -> bool {
        **self == *other
    }
}

impl<T: Pod> Column<T> {
    /// Returns the values as a vector, which may be changed; copies them if they are in a file.
    #[inline]
    pub(crate) fn to_mut(&mut self) -> &mut Vec<T> {
        if let Values::Mapped(_) = &self.0 {
            self.0 = Values::Owned(self.to_vec());
        }
        match &mut self.0 {
            Values::Owned(values) => values,
            Values::Mapped(_) => unreachable!("copied above"),
        }
    }

    /// Returns the values as a vector; copies them if they are in a file.
    #[must_use]
    pub(crate) fn into_vec(mut self) -> Vec<T> {
        std::mem::take(self.to_mut())
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        match &mut self.0 {
            Values::Owned(values) => values.push(value),
            Values::Mapped(_) => self.push_copied(value),
        }
    }

    #[cold]
    fn push_copied(&mut self, value: T) {
        self.to_mut().push(value);
    }

    /// Reserves room for `count` more values.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.to_mut().reserve(count);
    }

    /// Reserves room for exactly `count` more values.
    pub(crate) fn reserve_exact(&mut self, count: usize) {
        self.to_mut().reserve_exact(count);
    }

    /// Appends values.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.to_mut().extend_from_slice(values);
    }

    /// Frees unused room.
    pub(crate) fn shrink_to_fit(&mut self) {
        if let Values::Owned(values) = &mut self.0 {
            values.shrink_to_fit();
        }
    }

    /// Allocated heap memory in bytes; 0 if the values are in a file.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        match &self.0 {
            Values::Owned(values) => (values.capacity() * size_of::<T>()) as u64,
            Values::Mapped(_) => 0,
        }
    }
}

/// Where the columns of a model file go while it is written.
pub(crate) trait ColumnWriter {
    /// Appends the bytes of a column, aligned to 8 bytes or more, and returns the offset of the first one.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<u64>;
}

thread_local! {
    /// The model file that this thread writes.
    static WRITER: RefCell<Option<Box<dyn ColumnWriter>>> = const { RefCell::new(None) };
    /// The model file that this thread reads.
    static READER: RefCell<Option<Bytes>> = const { RefCell::new(None) };
}

/// Serializes `value` with all its columns: these go to `writer`, the rest is returned.
///
/// # Errors
/// If a column cannot be written, or a value has no serialized form.
pub(crate) fn store<T: Serialize>(
    value: &T,
    writer: Box<dyn ColumnWriter>,
) -> Result<Vec<u8>, postcard::Error> {
    let _nobody = WRITER.replace(Some(writer));
    let rest = postcard::to_extend(value, Vec::new());
    drop(WRITER.take());
    rest
}

/// Serializes a value while a model file is written on this thread by [`store`]: its columns go there, too.
///
/// # Errors
/// As [`store`].
pub(crate) fn store_inside<T: Serialize>(value: &T) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_extend(value, Vec::new())
}

/// Returns the value of which [`store`] or [`store_inside`] returned `rest`; `file` has the bytes that were written.
///
/// # Errors
/// If the bytes are not those of such a value.
pub(crate) fn restore<T: DeserializeOwned>(rest: &[u8], file: Bytes) -> Result<T, postcard::Error> {
    let _nobody = READER.replace(Some(file));
    let value = postcard::from_bytes(rest);
    drop(READER.take());
    value
}

impl<T: Pod> Serialize for Column<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_bytes(bytemuck::cast_slice(self), serializer)
    }
}

/// Writes the bytes of a column to the model file, and serializes their place.
fn serialize_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let place = WRITER.with_borrow_mut(|writer| {
        let writer = writer
            .as_mut()
            .ok_or_else(|| ser::Error::custom("columns are only stored in model files"))?;
        let at = if bytes.is_empty() {
            0
        } else {
            writer.write(bytes).map_err(ser::Error::custom)?
        };
        Ok((at, bytes.len() as u64))
    })?;
    place.serialize(serializer)
}

impl<'de, T: Pod> Deserialize<'de> for Column<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Column<T>, D::Error> {
        let (at, count) = <(u64, u64)>::deserialize(deserializer)?;
        if count == 0 {
            return Ok(Column::default());
        }
        let bytes = READER.with_borrow(|file| {
            let file = file.as_ref()?;
            let start = usize::try_from(at).ok()?;
            let end = start.checked_add(usize::try_from(count).ok()?)?;
            (end <= file.len()).then(|| file.slice(start..end))
        });
        let bytes = bytes.ok_or_else(|| de::Error::custom("no such column in the model file"))?;
        match bytemuck::try_cast_slice::<u8, T>(&bytes) {
            Ok(_) => Ok(Column(Values::Mapped(bytes))),
            Err(error) => Err(de::Error::custom(error)),
        }
    }
}

/// For serde's `with`: a vector of values that not every number is one of, such as those of an enum. It is stored as a
/// column, and copied and checked when it is read.
pub(crate) mod checked {
    use bytemuck::{CheckedBitPattern, NoUninit};
    use serde::de::{self, Deserialize, Deserializer};
    use serde::ser::Serializer;

    use super::Column;

    pub(crate) fn serialize<T: NoUninit, S: Serializer>(
        values: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        super::serialize_bytes(bytemuck::cast_slice(values), serializer)
    }

    pub(crate) fn deserialize<'de, T: CheckedBitPattern, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        let bytes = Column::<u8>::deserialize(deserializer)?;
        let values = bytemuck::checked::try_cast_slice(&bytes);
        Ok(values.map_err(de::Error::custom)?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Keeps what is written, after a head of 8 bytes.
    #[derive(Clone)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl ColumnWriter for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<u64> {
            let mut kept = self.0.lock().unwrap();
            let at = kept.len().next_multiple_of(8);
            kept.resize(at, 0);
            kept.extend_from_slice(bytes);
            Ok(at as u64)
        }
    }

    fn stored<T: Serialize>(value: &T) -> (Vec<u8>, Bytes) {
        let kept = Kept(Arc::new(Mutex::new(vec![0; 8])));
        let rest = store(value, Box::new(kept.clone())).unwrap();
        let written = kept.0.lock().unwrap();
        // The file is aligned as a map is.
        let words: Vec<u64> = written
            .chunks(8)
            .map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_ne_bytes(word)
            })
            .collect();
        struct Words(Vec<u64>);
        impl AsRef<[u8]> for Words {
            fn as_ref(&self) -> &[u8] {
                bytemuck::cast_slice(&self.0)
            }
        }
        (rest, Bytes::from_owner(Words(words)))
    }

    #[test]
    fn columns_come_back_from_a_file_and_are_copied_when_they_change() {
        let first: Column<u16> = (0..1000).collect();
        let second: Column<i64> = vec![-1, i64::MAX].into();
        let third = Column::<u32>::default();
        let (rest, file) = stored(&(&first, "between", &second, &third));
        type All = (Column<u16>, String, Column<i64>, Column<u32>);
        let (mut a, between, b, c): All = restore(&rest, file).unwrap();
        assert_eq!(
            (&a, between.as_str(), &b, &c),
            (&first, "between", &second, &third)
        );
        assert_eq!((a.memory_bytes(), b.memory_bytes()), (0, 0));
        a.push(7);
        a[0] = 9;
        assert_eq!((a.len(), a[0], a[1], a[1000]), (1001, 9, 1, 7));
        assert!(a.memory_bytes() >= 2002);
    }

    #[test]
    fn places_that_are_not_in_the_file_are_refused() {
        let (rest, file) = stored(&Column::from(vec![1_u32, 2, 3]));
        let found = restore::<Column<u32>>(&rest, file.slice(0..16));
        assert!(found.is_err(), "{found:?}");
        // 12 bytes are no whole number of values.
        assert!(restore::<Column<u64>>(&rest, file.clone()).is_err());
        let far = postcard::to_extend(&(u64::MAX, 8_u64), Vec::new()).unwrap();
        assert!(restore::<Column<u32>>(&far, file).is_err());
    }

    #[test]
    fn a_column_is_only_stored_in_a_model_file() {
        let column = Column::from(vec![1_u32]);
        assert!(serde_json::to_string(&column).is_err());
        assert!(postcard::to_extend(&column, Vec::new()).is_err());
    }
}
