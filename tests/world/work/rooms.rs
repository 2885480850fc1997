//! Rooms with letters, which are deleted with their room.

use serde_json::{Value, json};

const ROOMS: [&str; 2] = ["x", "y"];

#[derive(Debug, Clone)]
pub enum RoomOperation {
    Open(&'static str),
    Write(&'static str, String),
    Close(&'static str),
}

impl RoomOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        let room = ROOMS[rng.usize(..2)];
        match rng.usize(..8) {
            0 | 1 => Self::Open(room),
            2 | 3 => Self::Close(room),
            _ => Self::Write(room, format!("l{position}")),
        }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Open(id) => ("mutation ($id: ID!) { w: openRoom(id: $id) }", json!({ "id": id })),
            Self::Write(room, id) => (
                "mutation ($r: ID!, $id: ID!) { w: write(roomId: $r, letterId: $id, text: \"\") }",
                json!({ "r": room, "id": id }),
            ),
            Self::Close(id) => ("mutation ($id: ID!) { w: closeRoom(id: $id) }", json!({ "id": id })),
        }
    }
}
