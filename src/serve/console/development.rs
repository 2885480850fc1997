//! What `keyfold dev` shows besides the API in, its routes out. `keyfold serve` has none of them.
//!
//! Pages of other origins cannot read them, whatever the cross-origin rules of the API are.

use super::data::{self, TableData};
use super::design::{self, DesignDocument};
use super::sample_callers::{self, SampleCallers};
use super::starting_text::StartingTexts;
use axum::Router;
use axum::routing::get;
use std::sync::Arc;

/// What `keyfold dev` shows besides the API.
pub struct Development {
    /// The callers of the samples, whose tokens the page may have.
    pub sample_callers: Option<SampleCallers>,
    /// The design document of the schema.
    pub design: Arc<dyn DesignDocument>,
    /// What the tables hold.
    pub data: Arc<dyn TableData>,
    /// What the editor starts with.
    pub starting_texts: Arc<dyn StartingTexts>,
}

impl Development {
    /// The routes.
    pub fn routes(self) -> Router {
        let Self { sample_callers, design, data, .. } = self;
        let routes = Router::new()
            .route("/design", get(design::page).with_state(design.clone()))
            .route("/design.md", get(design::file).with_state(design))
            .merge(data::routes(data));
        match sample_callers {
            Some(callers) => routes.route("/dev/callers", get(sample_callers::list).with_state(Arc::new(callers))),
            None => routes,
        }
    }
}
