//! Metrics of the servers behind sources: products, statements by the shards that they ask, conditions without an index, changes that
//! they tell.
//!
//! **Cost:** none until the page of metrics is read.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::sync::Arc;
use weir_engine::source::{ChangeFeed, FeedCounts, Source};

/// Data about the servers of sources, read with the page.
#[derive(Debug)]
pub(super) struct DatabaseServers(Vec<DatabaseServer>);

#[derive(Debug)]
struct DatabaseServer {
    source: String,
    product: Option<String>,
    statements: Vec<(&'static str, u64)>,
    unindexed: u64,
    feed: Option<FeedCounts>,
}

impl DatabaseServers {
    /// Collects the data from `sources`.
    pub(super) fn of<'s>(sources: impl IntoIterator<Item = &'s Arc<dyn Source>>) -> Self {
        let server = |it: &Arc<dyn Source>| DatabaseServer {
            source: it.name().to_owned(),
            product: it.product(),
            statements: it.statements_by_shards(),
            unindexed: it.unindexed_conditions(),
            feed: it.change_feed().and_then(ChangeFeed::counts),
        };
        Self(sources.into_iter().map(server).collect())
    }

    fn encode_unindexed(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let known = || self.0.iter().filter(|it| it.unindexed > 0);
        if known().next().is_none() {
            return Ok(());
        }
        let help = "Conditions that no index answered, as they may fail by the row and stand behind a policy";
        let mut family =
            encoder.encode_descriptor("unindexed_conditions", help, None, MetricType::Counter)?;
        for server in known() {
            let labels = [("source", &*server.source)];
            ConstCounter::new(server.unindexed).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn encode_feeds(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let feeds = || self.0.iter().filter_map(|it| Some((&*it.source, it.feed?)));
        if feeds().next().is_none() {
            return Ok(());
        }
        let help = "1 while the database tells subscriptions of changes";
        let mut family = encoder.encode_descriptor("live_feed_up", help, None, MetricType::Gauge)?;
        for (source, feed) in feeds() {
            let is_telling = i64::from(feed.is_connected);
            ConstGauge::new(is_telling).encode(family.encode_family(&[("source", source)])?)?;
        }
        let help = "Transactions that the database told subscriptions of";
        let mut family =
            encoder.encode_descriptor("live_feed_transactions", help, None, MetricType::Counter)?;
        for (source, feed) in feeds() {
            ConstCounter::new(feed.transactions).encode(family.encode_family(&[("source", source)])?)?;
        }
        Ok(())
    }
}

impl Collector for DatabaseServers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let known = || self.0.iter().filter_map(|it| Some((it, it.product.as_deref()?)));
        if known().next().is_some() {
            let help = "Database servers by product and version; always 1";
            let mut family = encoder.encode_descriptor("server_info", help, None, MetricType::Gauge)?;
            for (server, product) in known() {
                let (product, version) = product.rsplit_once(' ').unwrap_or((product, ""));
                let labels = [("source", &*server.source), ("product", product), ("version", version)];
                ConstGauge::new(1_u64).encode(family.encode_family(&labels)?)?;
            }
        }
        self.encode_feeds(&mut encoder)?;
        self.encode_unindexed(&mut encoder)?;
        if self.0.iter().all(|it| it.statements.is_empty()) {
            return Ok(());
        }
        let help = "Statements to distributed databases by the shards that they ask";
        let mut family =
            encoder.encode_descriptor("statements_by_shards", help, None, MetricType::Counter)?;
        for server in &self.0 {
            for (shards, count) in &server.statements {
                let labels = [("source", &*server.source), ("shards", *shards)];
                ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    #[test]
    fn the_page_tells_products_and_shards() {
        let statements = vec![("none", 0), ("one", 7), ("several", 0), ("all", 2)];
        let product = Some("Citus 13.2".into());
        let shop = DatabaseServer { source: "shop".into(), product, statements, unindexed: 5, feed: None };
        let plain = DatabaseServer {
            source: "file".into(),
            product: None,
            statements: Vec::new(),
            unindexed: 0,
            feed: None,
        };
        let feed = Some(FeedCounts { is_connected: true, transactions: 3 });
        let told = DatabaseServer {
            source: "told".into(),
            product: None,
            statements: Vec::new(),
            unindexed: 0,
            feed,
        };
        let mut registry = Registry::with_prefix("weir");
        registry.register_collector(Box::new(DatabaseServers(vec![shop, plain, told])));
        let mut page = String::new();
        encode(&mut page, &registry).unwrap();
        for line in [
            r#"weir_server_info{source="shop",product="Citus",version="13.2"} 1"#,
            r#"weir_statements_by_shards_total{source="shop",shards="one"} 7"#,
            r#"weir_statements_by_shards_total{source="shop",shards="all"} 2"#,
            r#"weir_unindexed_conditions_total{source="shop"} 5"#,
            r#"weir_live_feed_up{source="told"} 1"#,
            r#"weir_live_feed_transactions_total{source="told"} 3"#,
        ] {
            assert!(page.lines().any(|it| it == line), "{line} is not in\n{page}");
        }
        assert!(!page.contains("file"), "{page}");
    }
}
