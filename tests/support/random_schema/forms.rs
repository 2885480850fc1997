//! Forms in which other programs keep times: each with some times, written by hand, as the API has them and as an item
//! does. No form is made or read here, so a mistake of Keyfold's is none of this table's.

/// A form of times.
pub struct TimeForm {
    /// The scalar.
    pub scalar: &'static str,
    /// `form:`.
    pub form: &'static str,
    /// Whether its texts sort as the times do.
    pub sorts: bool,
    /// Times in order: in the API, and in an item.
    pub times: [(&'static str, &'static str); 4],
}

/// The forms, of which [`Kind::Time`](super::Kind::Time) has the position.
pub const FORMS: [TimeForm; 7] = [
    TimeForm {
        scalar: "DateTime",
        form: "%Y-%m-%dT%H:%M:%SZ",
        sorts: true,
        times: [
            ("2019-12-31T23:59:59.000Z", "2019-12-31T23:59:59Z"),
            ("2020-01-01T00:00:00.000Z", "2020-01-01T00:00:00Z"),
            ("2020-01-01T00:00:01.000Z", "2020-01-01T00:00:01Z"),
            ("2024-02-29T12:30:00.000Z", "2024-02-29T12:30:00Z"),
        ],
    },
    TimeForm {
        scalar: "DateTime",
        form: "%Y-%m-%dT%H:%M:%S.%6f+00:00",
        sorts: true,
        times: [
            ("2020-01-01T00:00:00.000000Z", "2020-01-01T00:00:00.000000+00:00"),
            ("2020-01-01T00:00:00.000001Z", "2020-01-01T00:00:00.000001+00:00"),
            ("2020-01-01T00:00:00.100000Z", "2020-01-01T00:00:00.100000+00:00"),
            ("2024-02-29T12:30:00.123456Z", "2024-02-29T12:30:00.123456+00:00"),
        ],
    },
    TimeForm {
        scalar: "DateTime",
        form: "%s",
        sorts: true,
        times: [
            ("2001-09-09T01:46:40.000Z", "1000000000"),
            ("2020-01-01T00:00:00.000Z", "1577836800"),
            ("2020-01-01T00:00:01.000Z", "1577836801"),
            ("2286-11-20T17:46:39.000Z", "9999999999"),
        ],
    },
    TimeForm {
        scalar: "DateTime",
        form: "%Y%m%d%H%M-05:00",
        sorts: true,
        times: [
            ("2020-01-01T04:59:00.000Z", "201912312359-05:00"),
            ("2020-01-01T05:00:00.000Z", "202001010000-05:00"),
            ("2020-01-01T12:30:00.000Z", "202001010730-05:00"),
            ("2020-03-01T04:59:00.000Z", "202002292359-05:00"),
        ],
    },
    TimeForm {
        scalar: "Date",
        form: "%d/%m/%Y",
        sorts: false,
        times: [
            ("2019-12-31", "31/12/2019"),
            ("2020-01-01", "01/01/2020"),
            ("2020-02-29", "29/02/2020"),
            ("2020-10-02", "02/10/2020"),
        ],
    },
    TimeForm {
        scalar: "Date",
        form: "%G-W%V",
        sorts: true,
        times: [
            ("2019-12-30", "2020-W01"),
            ("2020-01-06", "2020-W02"),
            ("2020-12-28", "2020-W53"),
            ("2021-01-04", "2021-W01"),
        ],
    },
    TimeForm {
        scalar: "LocalDateTime",
        form: "%Y%j.%H%M%S%3f",
        sorts: true,
        times: [
            ("2019-12-31T23:59:59.999", "2019365.235959999"),
            ("2020-01-01T00:00:00.000", "2020001.000000000"),
            ("2020-12-31T00:00:00.001", "2020366.000000001"),
            ("2020-12-31T10:20:30.400", "2020366.102030400"),
        ],
    },
];

impl TimeForm {
    /// The text of a time in an item.
    pub fn text(&self, time: &str) -> &'static str {
        self.times.iter().find(|(api, _)| *api == time).expect("a time of the form").1
    }

    /// The time of a text in an item.
    pub fn time(&self, text: &str) -> Option<&'static str> {
        self.times.iter().find(|(_, own)| *own == text).map(|(api, _)| *api)
    }
}
