//! Edits the user's groups of tracks: makes them, puts tracks into them, takes them apart.

use super::groups::{Member, TrackGroup};
use super::layout::Layout;
use super::outline::Outline;
use super::row::RowKey;

impl Layout {
    /// Returns the group that contains a track.
    #[must_use]
    pub fn group_of(&self, key: RowKey) -> Option<&TrackGroup> {
        let holds = |group: &&TrackGroup| group.members.iter().any(|it| it.key == Some(key));
        self.groups.iter().find(holds)
    }

    /// Returns the group whose row has this key.
    #[must_use]
    pub fn group(&self, key: RowKey) -> Option<&TrackGroup> {
        self.groups
            .iter()
            .find(|group| RowKey::Made(group.id) == key)
    }

    /// Makes a group of tracks and returns its row. `natural` is the outline without any groups.
    pub(super) fn make_group(
        &mut self,
        outline: &Outline,
        natural: &Outline,
        keys: &[RowKey],
    ) -> Option<RowKey> {
        let members = members(outline, natural, keys);
        if members.is_empty() {
            return None;
        }
        let id = self.groups.iter().map(|group| group.id + 1).max();
        let id = id.unwrap_or(1);
        let first = members.first().and_then(|first| first.key);
        let parent = first.and_then(|key| self.group_of(key));
        let is_first = |member: &Member| member.key == first;
        let place = parent.and_then(|group| group.members.iter().position(is_first));
        let parent = parent.map(|it| it.id);
        let keys = members.iter().filter_map(|member| member.key);
        let tops: Vec<RowKey> = keys.filter_map(|key| outline.top_of(key)).collect();
        for member in &members {
            self.leave(member.key);
        }
        self.groups.push(TrackGroup {
            id,
            name: format!("Group {id}"),
            members,
        });
        // A group made of members of another group stays inside that group.
        if let Some(parent) = self.groups.iter_mut().find(|it| Some(it.id) == parent) {
            let last = parent.members.len();
            let at = place.map_or(last, |place| place.min(last));
            let member = Member {
                key: Some(RowKey::Made(id)),
                path: Vec::new(),
            };
            parent.members.insert(at, member);
        }
        self.drop_empty();
        // In a user-defined order, the group takes the place of its first member.
        if let Some(order) = self.order.get_mut(&None) {
            let places = tops
                .iter()
                .filter_map(|top| order.iter().position(|key| key == top));
            if let Some(at) = places.min() {
                order.insert(at, RowKey::Made(id));
            }
        }
        Some(RowKey::Made(id))
    }

    /// Puts a track into a group, before another of the group's tracks or last.
    pub(super) fn join(
        &mut self,
        natural: &Outline,
        key: RowKey,
        into: RowKey,
        before: Option<RowKey>,
    ) {
        // A group cannot be put into itself, nor into a group inside it.
        let mut around = Some(into);
        for _ in 0..=self.groups.len() {
            if around == Some(key) {
                return;
            }
            around = around
                .and_then(|key| self.group_of(key))
                .map(|group| RowKey::Made(group.id));
        }
        let kept = self
            .group_of(key)
            .and_then(|group| group.members.iter().find(|it| it.key == Some(key)))
            .cloned();
        let Some(member) = kept.or_else(|| members(natural, natural, &[key]).pop()) else {
            return;
        };
        if before == Some(key) {
            return;
        }
        self.leave(Some(key));
        if let Some(group) = self
            .groups
            .iter_mut()
            .find(|group| RowKey::Made(group.id) == into)
        {
            let at = group.members.iter().position(|it| it.key == before);
            let at = at.filter(|_| before.is_some());
            group
                .members
                .insert(at.unwrap_or(group.members.len()), member);
        }
        self.drop_empty();
    }

    /// Takes a track out of its group, back to its natural place.
    pub(super) fn take_out(&mut self, key: RowKey) {
        self.leave(Some(key));
        self.drop_empty();
    }

    /// Takes a group apart, back to its members.
    pub(super) fn ungroup(&mut self, key: RowKey) {
        let Some(at) = self
            .groups
            .iter()
            .position(|group| RowKey::Made(group.id) == key)
        else {
            return;
        };
        let members = self.groups.remove(at).members;
        let around = self
            .groups
            .iter_mut()
            .find(|group| group.members.iter().any(|it| it.key == Some(key)));
        if let Some(around) = around {
            around.members.retain(|it| it.key != Some(key));
            around.members.extend(members);
        }
        self.drop_empty();
    }

    fn leave(&mut self, key: Option<RowKey>) {
        for group in &mut self.groups {
            group.members.retain(|member| member.key != key);
        }
    }

    fn drop_empty(&mut self) {
        loop {
            let empty = self.groups.iter().position(|it| it.members.is_empty());
            let Some(at) = empty else { return };
            let gone = RowKey::Made(self.groups.remove(at).id);
            self.leave(Some(gone));
        }
    }
}

/// Returns the rows of `keys` that are not inside another of `keys`, from top to bottom, with their natural paths.
fn members(outline: &Outline, natural: &Outline, keys: &[RowKey]) -> Vec<Member> {
    let mut found = Vec::new();
    outline.visit(&mut |path, node| {
        let above = path.split_last().map_or(&[][..], |(_, above)| above);
        let is_inside = above.iter().any(|node| keys.contains(&node.key));
        if keys.contains(&node.key) && !is_inside {
            found.push(Member {
                key: Some(node.key),
                path: Vec::new(),
            });
        }
    });
    natural.visit(&mut |path, node| {
        if let Some(member) = found.iter_mut().find(|it| it.key == Some(node.key)) {
            member.path = path.iter().map(|node| node.title.to_string()).collect();
        }
    });
    found
}
