//! The shards of a stream in; out: which of them are read now, and from where. A shard is read after its parent, so
//! that the changes of an item stay in order. One that cannot be read for now is tried again as long as the stream
//! lists it. Must not know how shards are read.

use crate::table::change_source::StreamPosition;
use crate::table::change_source::{Shard, ShardStart, ancestors};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Where to begin in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamStart {
    /// After all changes so far.
    Latest,
    /// After the record at this position. Other shards are read from their beginning, unless their records precede it
    /// for certain.
    After(StreamPosition),
}

/// The progress of each shard.
#[derive(Debug)]
pub struct Lineage {
    start: StreamStart,
    shards: HashMap<Arc<str>, Progress>,
    is_first: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Progress {
    Reading,
    /// It could not be read from there.
    Away(ShardStart),
    Done,
}

impl Lineage {
    /// No shard is read yet.
    pub fn new(start: StreamStart) -> Self {
        Self { start, shards: HashMap::new(), is_first: true }
    }

    /// The shards to begin with, now that these are there. The first time, it begins where the stream does.
    pub fn update(&mut self, listed: &[Shard]) -> Vec<(Arc<str>, ShardStart)> {
        let ids: HashSet<&str> = listed.iter().map(|shard| &*shard.id).collect();
        if std::mem::take(&mut self.is_first) {
            return self.begin(listed);
        }
        // What is not listed any longer cannot come back.
        self.shards.retain(|id, progress| *progress != Progress::Done || ids.contains(&**id));
        let mut begun = Vec::new();
        for shard in listed {
            let start = match self.shards.get(&shard.id) {
                Some(Progress::Away(start)) => start.clone(),
                None if self.is_over(shard.parent.as_ref(), &ids) => ShardStart::TrimHorizon,
                _ => continue,
            };
            self.shards.insert(shard.id.clone(), Progress::Reading);
            begun.push((shard.id.clone(), start));
        }
        begun
    }

    /// A shard cannot be read for now: it is tried again from there.
    pub fn leave(&mut self, shard: Arc<str>, start: ShardStart) {
        self.shards.insert(shard, Progress::Away(start));
    }

    /// Whether shards were listed before.
    pub fn has_begun(&self) -> bool {
        !self.is_first
    }

    /// Whether these are the shards of another stream: none is known, and none follows a known one.
    pub fn is_of_another_stream(&self, listed: &[Shard]) -> bool {
        let is_known = |id: &Arc<str>| self.shards.contains_key(id);
        !self.shards.is_empty()
            && !listed.iter().any(|shard| is_known(&shard.id) || shard.parent.as_ref().is_some_and(is_known))
    }

    /// Whether some shard cannot be read for now.
    pub fn is_waiting(&self) -> bool {
        self.shards.values().any(|progress| matches!(progress, Progress::Away(_)))
    }

    /// The shards that could not be read and are not listed any longer, with where their reading would have begun. They
    /// are forgotten.
    pub fn take_gone(&mut self, listed: &[Shard]) -> Vec<(Arc<str>, ShardStart)> {
        let mut gone = Vec::new();
        self.shards.retain(|id, progress| match progress {
            Progress::Away(start) if listed.iter().all(|shard| shard.id != *id) => {
                gone.push((id.clone(), start.clone()));
                false
            }
            _ => true,
        });
        gone
    }

    /// A shard has ended: those that follow it can be read.
    pub fn end(&mut self, shard: &Arc<str>) {
        self.shards.insert(shard.clone(), Progress::Done);
    }

    /// Whether a shard that others follow has been read. One that is not listed any longer was trimmed.
    fn is_over(&self, parent: Option<&Arc<str>>, listed: &HashSet<&str>) -> bool {
        parent.is_none_or(|parent| match self.shards.get(parent) {
            Some(progress) => *progress == Progress::Done,
            None => !listed.contains(&**parent),
        })
    }

    fn begin(&mut self, listed: &[Shard]) -> Vec<(Arc<str>, ShardStart)> {
        let mut begun = Vec::new();
        match self.start.clone() {
            StreamStart::Latest => {
                let followed: HashSet<&Arc<str>> = listed.iter().filter_map(|shard| shard.parent.as_ref()).collect();
                for shard in listed {
                    // A shard that others follow gets no more records.
                    let is_over = followed.contains(&shard.id);
                    self.shards.insert(shard.id.clone(), if is_over { Progress::Done } else { Progress::Reading });
                    begun.extend((!is_over).then(|| (shard.id.clone(), ShardStart::Latest)));
                }
            }
            StreamStart::After(position) => {
                // What the position's shard follows precedes it.
                self.shards.extend(ancestors(listed, &position.shard).map(|id| (id, Progress::Done)));
                let shard = position.shard.clone();
                self.shards.insert(shard.clone(), Progress::Reading);
                begun.push((shard, ShardStart::After(position)));
                begun.extend(self.update(listed));
            }
        }
        begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(id: &str, parent: Option<&str>) -> Shard {
        Shard { id: id.into(), parent: parent.map(Into::into) }
    }

    fn ids(begun: Vec<(Arc<str>, ShardStart)>) -> Vec<String> {
        begun
            .iter()
            .map(|(id, start)| {
                format!(
                    "{id} {}",
                    match start {
                        ShardStart::Latest => "latest",
                        ShardStart::TrimHorizon => "all",
                        ShardStart::After(_) => "after",
                    }
                )
            })
            .collect()
    }

    #[test]
    fn a_shard_is_read_after_its_parent() {
        let mut lineage = Lineage::new(StreamStart::Latest);
        let before = [shard("old", None), shard("a", Some("old"))];
        assert_eq!(ids(lineage.update(&before)), ["a latest"]);
        let split = [shard("a", Some("old")), shard("a1", Some("a")), shard("a2", Some("a")), shard("a11", Some("a1"))];
        assert!(lineage.update(&split).is_empty());
        lineage.end(&"a".into());
        assert_eq!(ids(lineage.update(&split)), ["a1 all", "a2 all"]);
        lineage.end(&"a1".into());
        assert_eq!(ids(lineage.update(&split)), ["a11 all"]);
        assert!(lineage.update(&split).is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_tried_again_until_it_is_not_listed() {
        let mut lineage = Lineage::new(StreamStart::Latest);
        let listed = [shard("a", None), shard("a1", Some("a"))];
        assert_eq!(ids(lineage.update(&listed[..1])), ["a latest"]);
        lineage.leave("a".into(), ShardStart::Latest);
        assert!(lineage.is_waiting() && lineage.take_gone(&listed).is_empty());
        // What follows it waits.
        assert_eq!(ids(lineage.update(&listed)), ["a latest"]);
        assert!(!lineage.is_waiting() && lineage.update(&listed).is_empty());
        lineage.leave("a".into(), ShardStart::TrimHorizon);
        assert_eq!(ids(lineage.take_gone(&listed[1..])), ["a all"]);
        assert_eq!(ids(lineage.update(&listed[1..])), ["a1 all"]);
    }

    #[test]
    fn a_position_leaves_out_what_precedes_it() {
        let position = StreamPosition { shard: "b".into(), sequence: "5".into() };
        let mut lineage = Lineage::new(StreamStart::After(position));
        let listed = [shard("root", None), shard("b", Some("root")), shard("b1", Some("b")), shard("c", Some("root"))];
        assert_eq!(ids(lineage.update(&listed)), ["b after", "c all"]);
        lineage.end(&"b".into());
        assert_eq!(ids(lineage.update(&listed)), ["b1 all"]);
    }

    #[test]
    fn a_trimmed_parent_holds_nothing_up() {
        let mut lineage = Lineage::new(StreamStart::Latest);
        assert!(lineage.update(&[]).is_empty());
        assert_eq!(ids(lineage.update(&[shard("n", Some("gone"))])), ["n all"]);
    }
}
