//! The reader of a stream against a stream that splits, forgets iterators, throttles and trims: each change arrives,
//! those of an item in their order.

use super::stream::{ITEMS, LONG, Stream, TABLE, Taken};
use fastrand::Rng;
use keyfold::table::change_source::ChangeRecord;
use keyfold::table::change_source::StreamError;
use keyfold::table::data::attribute::Attribute;
use keyfold::table::stream::reader::StreamReader;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

#[tokio::test(start_paused = true)]
async fn each_change_arrives_and_those_of_an_item_in_order() {
    for seed in 0..30 {
        let stream = Stream::new(seed, (seed % 4) as u8);
        stream.write(3, 1);
        let taken = Arc::new(Taken::default());
        let reader = StreamReader::new(stream.clone(), TABLE.into(), taken.clone());
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
            let all: Vec<&ChangeRecord> =
                state.shards.iter().flat_map(|shard| &shard.records).filter(of_item).collect();
            let Some(middle) = all.get(all.len() / 2) else { continue };
            let Attribute::N(version) = &middle.new.as_ref().unwrap()["version"] else { panic!("a version") };
            (middle.position.clone(), version.parse::<u64>().unwrap())
        };
        let taken = Arc::new(Taken::default());
        StreamReader::new(stream.clone(), TABLE.into(), taken.clone()).catch_up(position).await;
        assert_eq!(taken.versions(0).await[5], (last + 1..=written[5]).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn reader_that_catches_up_reads_no_further_than_it_wants() {
    let stream = Stream::new(1, 0);
    (1..=9).for_each(|version| stream.write(0, version));
    let sequence = |at: usize| stream.state.lock().unwrap().shards[0].records[at].position.clone();
    let taken = Arc::new(Taken { beside: Mutex::new(Some(sequence(4).sequence)), ..Taken::default() });
    assert!(!StreamReader::new(stream.clone(), TABLE.into(), taken.clone()).catch_up(sequence(0)).await);
    let versions = taken.versions(1).await[0].clone();
    // An answer has three records at most.
    assert!(versions[0] == 2 && (4..=6).contains(&versions.len()), "{versions:?}");
}

#[tokio::test(start_paused = true)]
async fn records_that_are_gone_are_lost_and_reported() {
    let stream = Stream::new(1, 0);
    for version in 1..=9 {
        stream.write(0, version);
    }
    let position = stream.state.lock().unwrap().shards[0].records[1].position.clone();
    stream.state.lock().unwrap().shards[0].trimmed = 5;
    let taken = Arc::new(Taken::default());
    StreamReader::new(stream.clone(), TABLE.into(), taken.clone()).catch_up(position).await;
    assert_eq!(*taken.lost.lock().unwrap(), 1);
    assert_eq!(taken.versions(4).await[0], [6, 7, 8, 9]);
}

/// Follows a stream. Gives what it reads once it has begun.
async fn followed(stream: &Arc<Stream>) -> (Arc<Taken>, AbortHandle) {
    let taken = Arc::new(Taken::default());
    let reader = StreamReader::new(stream.clone(), TABLE.into(), taken.clone());
    let reading = tokio::spawn(async move { reader.follow().await }).abort_handle();
    timeout(LONG, taken.begun.notified()).await.expect("the reading begins");
    (taken, reading)
}

#[tokio::test(start_paused = true)]
async fn what_changes_after_the_beginning_arrives_whatever_the_clock_of_the_stream_shows() {
    let clocks: [fn(i64) -> i64; 5] = [|now| now - 5, |now| now / 60 * 60, |now| now + 5, |_| 0, |now| 2 * now];
    for (number, clock) in clocks.into_iter().enumerate() {
        for trouble in [0, 3] {
            let stream = Stream::new(number as u64, trouble);
            stream.state.lock().unwrap().clock = clock;
            // What was before the reader began is not its own.
            stream.write(0, 1);
            let (taken, reading) = followed(&stream).await;
            for version in 2..=9 {
                stream.write(0, version);
            }
            assert_eq!(
                taken.versions(8).await[0],
                (2..=9).collect::<Vec<_>>(),
                "clock {number}, {trouble} of ten calls fail"
            );
            assert_eq!(*taken.lost.lock().unwrap(), 0);
            reading.abort();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_is_not_there_at_first_is_tried_again() {
    for refusal in [StreamError::Missing("not yet".into()), StreamError::Trimmed] {
        // The first shard, and one that follows it.
        for at_first in [true, false] {
            let stream = Stream::new(1, 0);
            let refuse = |shard: usize| stream.state.lock().unwrap().shards[shard].refusals = vec![refusal.clone(); 3];
            if at_first {
                refuse(0);
            }
            let (taken, reading) = followed(&stream).await;
            stream.write(0, 1);
            if !at_first {
                stream.split(0);
                refuse(1);
            }
            stream.write(0, 2);
            stream.write(ITEMS - 1, 1);
            let versions = taken.versions(3).await;
            assert_eq!(
                (&versions[0][..], &versions[ITEMS as usize - 1][..]),
                (&[1, 2][..], &[1][..]),
                "{refusal:?}, at first: {at_first}"
            );
            assert_eq!(*taken.lost.lock().unwrap(), 0);
            reading.abort();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_goes_away_is_reported_as_lost_and_another_is_read_on() {
    let stream = Stream::new(1, 0);
    let (taken, reading) = followed(&stream).await;
    stream.write(0, 1);
    assert_eq!(taken.versions(1).await[0], [1]);
    // It is away for a while: nothing is lost.
    {
        let mut state = stream.state.lock().unwrap();
        state.all_expired = true;
        state.shards[0].refusals = vec![StreamError::Missing("away".into()); 3];
    }
    stream.write(0, 2);
    assert_eq!(taken.versions(2).await[0], [1, 2]);
    assert_eq!(*taken.lost.lock().unwrap(), 0);
    // It is gone for ever, with what came after.
    stream.split(0);
    {
        let mut state = stream.state.lock().unwrap();
        state.all_expired = true;
        state.shards[0].is_gone = true;
    }
    stream.write(0, 3);
    assert_eq!(taken.versions(3).await[0], [1, 2, 3]);
    assert_eq!(*taken.lost.lock().unwrap(), 1);
    reading.abort();
}

#[tokio::test(start_paused = true)]
async fn a_place_that_only_an_expired_iterator_knew_is_reported_as_lost() {
    let stream = Stream::new(1, 0);
    stream.write(0, 1);
    let (taken, reading) = followed(&stream).await;
    stream.state.lock().unwrap().all_expired = true;
    timeout(LONG, taken.more.notified()).await.expect("the loss is reported");
    assert_eq!(*taken.lost.lock().unwrap(), 1);
    // From there on, nothing is missed.
    stream.write(0, 2);
    assert_eq!(taken.versions(1).await[0], [2]);
    reading.abort();
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_switched_off_or_replaced_is_reported_as_lost_and_the_next_one_is_followed() {
    for is_off_for in [Duration::ZERO, Duration::from_secs(60)] {
        let stream = Stream::new(1, 0);
        let (taken, reading) = followed(&stream).await;
        stream.write(0, 1);
        assert_eq!(taken.versions(1).await[0], [1]);
        stream.switch_off();
        sleep(is_off_for).await;
        assert_eq!(*taken.lost.lock().unwrap(), usize::from(!is_off_for.is_zero()), "off for {is_off_for:?}");
        stream.switch_on();
        timeout(LONG, taken.begun.notified()).await.expect("the reading of the other stream begins");
        assert_eq!(*taken.lost.lock().unwrap(), 1);
        stream.write(0, 3);
        assert_eq!(taken.versions(2).await[0], [1, 3]);
        assert_eq!(*taken.lost.lock().unwrap(), 1);
        reading.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn reader_that_catches_up_does_not_wait_for_a_stream() {
    let stream = Stream::new(1, 0);
    stream.write(0, 1);
    let position = stream.state.lock().unwrap().shards[0].records[0].position.clone();
    stream.switch_off();
    let taken = Arc::new(Taken::default());
    let reader = StreamReader::new(stream, TABLE.into(), taken.clone());
    assert!(!timeout(LONG, reader.catch_up(position)).await.expect("an end"));
    assert_eq!(*taken.lost.lock().unwrap(), 1);
}
