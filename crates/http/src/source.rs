//! Services as a [`Source`]: what is selected becomes calls, and what is answered becomes rows.
//!
//! A text of services is opened once per generation: its [`Mapping`] is checked, each service gets its connections and each
//! connector its rule of caching. The planner asks the source's `division` which members come with which call; each piece
//! is then a `fetch` of one call, of one call per key, or of batches of keys.
//!
//! **Invariant:** what is shared between clients is kept under a key that holds every header the call sends or reads.

mod ask;
mod batch;
mod division;
mod fetch;
mod judge;
mod open;
mod told;
mod whole;

pub use open::{Options, is_services, open};
pub use whole::Whole;

use crate::cache::{Cache, Rule};
use crate::call::Upstream;
use crate::inputs::Settings;
use crate::sdl::{Connector, ConnectorId, Join, Mapping};
use division::Division;
use std::sync::Arc;
use weir_engine::lifetime::HintAt;
use weir_engine::source::{Fetch, Parts, Piece, PlanError, Source};
use weir_language::schema::Schema;

/// The services of one text.
pub struct HttpSource {
    name: Box<str>,
    shared: Arc<Shared>,
    division: Division,
    hints: Vec<HintAt>,
}

/// What calls need beside the request; it lives as long as the last of them.
struct Shared {
    mapping: Arc<Mapping>,
    /// By service.
    upstreams: Vec<Arc<Upstream>>,
    /// By connector.
    lines: Vec<Line>,
    cache: Arc<Cache>,
    settings: Settings,
}

/// How the calls of one connector are shared and told apart.
struct Line {
    /// For clients that are told apart by what the key holds.
    rule: Arc<Rule>,
    /// For those who lack a header that tells them apart: nothing of theirs is shared. Equals `rule` where there is no such
    /// header.
    alone: Arc<Rule>,
    /// The headers of clients that stand in keys beside those of the call, in lower case.
    key_headers: Vec<Box<str>>,
    /// All headers of clients that it reads, in lower case.
    reads_headers: Vec<Box<str>>,
    /// Tells its entries from those of other connectors, also after a change of the text.
    fingerprint: [u8; 32],
    /// `service Type.field`: for logs and for who asks what set a lifetime.
    shown: Arc<str>,
    tags: Vec<Arc<str>>,
}

impl Shared {
    fn connector(&self, id: ConnectorId) -> &Connector {
        self.mapping.connector(id)
    }

    fn line(&self, id: ConnectorId) -> &Line {
        &self.lines[id.index()]
    }

    fn upstream(&self, id: ConnectorId) -> &Arc<Upstream> {
        &self.upstreams[self.connector(id).service.index()]
    }
}

impl HttpSource {
    /// The text, read.
    #[must_use]
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.shared.mapping
    }

    /// Fields of its types that other sources answer.
    #[must_use]
    pub fn joins(&self) -> &[Join] {
        &self.shared.mapping.joins
    }
}

impl Source for HttpSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.shared.mapping.schema
    }

    fn parts(&self) -> Option<&dyn Parts> {
        Some(&self.division)
    }

    fn hints(&self) -> &[HintAt] {
        &self.hints
    }

    fn prepare(&self, piece: &Piece<'_>) -> Result<Box<dyn Fetch>, PlanError> {
        fetch::prepare(&self.shared, piece)
    }
}
