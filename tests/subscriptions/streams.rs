//! The reader of a stream against a stream that splits, forgets iterators, throttles and trims: each change arrives, those of an item in
//! their order.

use super::stream::{ITEMS, Stream, Taken};
use fastrand::Rng;
use keyfold::table::data::attribute::Attribute;
use keyfold::table::stream::reader::StreamReader;
use keyfold::table::stream::record::ChangeRecord;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn each_change_arrives_and_those_of_an_item_in_order() {
    for seed in 0..30 {
        let stream = Stream::new(seed, (seed % 4) as u8);
        stream.write(3, 1);
        let taken = Arc::new(Taken::default());
        let reader = StreamReader::new(stream.clone(), "t".into(), taken.clone());
        let reading = tokio::spawn(async move { reader.follow().await });
        taken.begun.notified().await;
        let mut rng = Rng::with_seed(seed);
        let mut written = vec![0_u64; ITEMS as usize];
        written[3] = 1;
        for _ in 0..300 {
            let item = rng.u64(..ITEMS);
            written[item as usize] += 1;
            stream.write(item, written[item as usize]);
            if rng.u8(..25) == 0 {
                stream.split(item);
            }
            if rng.bool() {
                sleep(Duration::from_millis(rng.u64(..40))).await;
            }
        }
        let versions = taken.versions(300).await;
        for (item, last) in written.iter().enumerate() {
            // What was before the reader began is not its own.
            let first = if item == 3 { 2 } else { 1 };
            assert_eq!(versions[item], (first..=*last).collect::<Vec<_>>(), "item {item} of seed {seed}");
        }
        assert_eq!(*taken.lost.lock().unwrap(), 0);
        reading.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_position_is_read_until_it_is_current() {
    for seed in 0..30 {
        let stream = Stream::new(seed, (seed % 3) as u8);
        let mut rng = Rng::with_seed(seed);
        let mut written = vec![0_u64; ITEMS as usize];
        for _ in 0..100 {
            let item = rng.u64(..ITEMS);
            written[item as usize] += 1;
            stream.write(item, written[item as usize]);
            if rng.u8(..15) == 0 {
                stream.split(item);
            }
        }
        let (position, last) = {
            let state = stream.state.lock().unwrap();
            let of_item = |record: &&ChangeRecord| record.new.as_ref().unwrap()["id"] == Attribute::N("5".into());
            let all: Vec<&ChangeRecord> = state.shards.iter().flat_map(|shard| &shard.records).filter(of_item).collect();
            let Some(middle) = all.get(all.len() / 2) else { continue };
            let Attribute::N(version) = &middle.new.as_ref().unwrap()["version"] else { panic!("a version") };
            (middle.position.clone(), version.parse::<u64>().unwrap())
        };
        let taken = Arc::new(Taken::default());
        StreamReader::new(stream.clone(), "t".into(), taken.clone()).catch_up(position, i64::MAX).await;
        assert_eq!(taken.versions(0).await[5], (last + 1..=written[5]).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_catches_up_reads_no_further_than_it_wants() {
    let stream = Stream::new(1, 0);
    (1..=9).for_each(|version| stream.write(0, version));
    let position = stream.state.lock().unwrap().shards[0].records[0].position.clone();
    let taken = Arc::new(Taken::default());
    // The records are of a later second than the one that is wanted.
    assert!(!StreamReader::new(stream.clone(), "t".into(), taken.clone()).catch_up(position, 17).await);
    let versions = taken.versions(1).await[0].clone();
    assert!(versions[0] == 2 && versions.len() < 8, "{versions:?}");
}

#[tokio::test(start_paused = true)]
async fn records_that_are_gone_are_lost_and_told() {
    let stream = Stream::new(1, 0);
    for version in 1..=9 {
        stream.write(0, version);
    }
    let position = stream.state.lock().unwrap().shards[0].records[1].position.clone();
    stream.state.lock().unwrap().shards[0].trimmed = 5;
    let taken = Arc::new(Taken::default());
    StreamReader::new(stream.clone(), "t".into(), taken.clone()).catch_up(position, i64::MAX).await;
    assert_eq!(*taken.lost.lock().unwrap(), 1);
    assert_eq!(taken.versions(4).await[0], [6, 7, 8, 9]);
}
