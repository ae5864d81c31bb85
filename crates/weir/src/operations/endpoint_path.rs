//! Path templates of endpoints: `boat/:id/crew`.

use weir_transport::parameters::decode_percent;

/// One segment of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Exactly these characters, after percent-decoding.
    Literal(String),
    /// Any segment, bound to this variable.
    Variable(String),
}

/// A path below `/api/rest/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Segment>);

impl Template {
    /// Parses the `url` of an endpoint.
    /// # Errors
    /// Hasura's message for the mistake.
    pub(crate) fn read(url: &str) -> Result<Self, String> {
        let segments = url.split('/').map(|it| match it.strip_prefix(':') {
            Some(name) => Segment::Variable(name.to_owned()),
            None => Segment::Literal(it.to_owned()),
        });
        let segments: Vec<Segment> = segments.collect();
        let is_empty =
            |it: &Segment| matches!(it, Segment::Literal(name) | Segment::Variable(name) if name.is_empty());
        if segments.iter().any(is_empty) {
            return Err(format!("Empty segments or unnamed variables are not allowed: {url}"));
        }
        let made = Self(segments);
        let mut names: Vec<&str> = made.variables().collect();
        names.sort_unstable();
        let twice: Vec<&str> = names.windows(2).filter(|it| it[0] == it[1]).map(|it| it[0]).collect();
        match twice.first() {
            Some(name) => Err(format!("Duplicate variables found in endpoint path: {name}")),
            None => Ok(made),
        }
    }

    /// Names of the variables in order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|it| match it {
            Segment::Variable(name) => Some(name.as_str()),
            Segment::Literal(_) => None,
        })
    }

    /// The segments.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Matches the undecoded `path`; returns variables with their values.
    pub(crate) fn fit(&self, path: &str) -> Option<Vec<(&str, String)>> {
        let mut sent = path.split('/');
        let mut found = Vec::new();
        for segment in &self.0 {
            let text = decode_percent(sent.next()?, false)?;
            match segment {
                Segment::Literal(name) => (*name == text).then_some(())?,
                Segment::Variable(_) if text.is_empty() => return None,
                Segment::Variable(name) => found.push((name.as_str(), text)),
            }
        }
        sent.next().is_none().then_some(found)
    }

    /// True if some path matches both.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let both = |(one, two): (&Segment, &Segment)| match (one, two) {
            (Segment::Literal(one), Segment::Literal(two)) => one == two,
            (Segment::Variable(_), _) | (_, Segment::Variable(_)) => true,
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Template {
        Template::read(url).unwrap_or_else(|words| panic!("{url}: {words}"))
    }

    #[test]
    fn templates_are_read_or_refused_in_hasura_s_words() {
        for (url, part) in [
            ("", "Empty segments or unnamed variables are not allowed: "),
            ("boat/", "Empty segments or unnamed variables are not allowed: boat/"),
            ("boat//crew", "Empty segments"),
            ("boat/:", "unnamed variables"),
            ("boat/:id/crew/:id", "Duplicate variables found in endpoint path: id"),
        ] {
            assert!(Template::read(url).is_err_and(|it| it.contains(part)), "{url}");
        }
        assert_eq!(read("boat/:id/crew").variables().collect::<Vec<_>>(), ["id"]);
    }

    #[test]
    fn paths_fit_segment_by_segment() {
        for (url, path, expected) in [
            ("boat/:id", "boat/7", Some(vec![("id", "7")])),
            ("boat/:id", "boat/a%2Fb%20+", Some(vec![("id", "a/b +")])),
            ("boat/:id", "boat", None),
            ("boat/:id", "boat/", None),
            ("boat/:id", "boat/7/", None),
            ("boat/:id", "Boat/7", None),
            ("boat/:id", "boat/%zz%ff", None),
            (":a/:b", "x/y", Some(vec![("a", "x"), ("b", "y")])),
        ] {
            let template = read(url);
            let found = template.fit(path);
            let found =
                found.as_ref().map(|it| it.iter().map(|it| (it.0, it.1.as_str())).collect::<Vec<_>>());
            assert_eq!(found, expected, "{url} {path}");
        }
    }

    #[test]
    fn templates_overlap_if_a_path_fits_both() {
        for (one, two, expected) in [
            ("boat/:id", "boat/active", true),
            ("boat/:id", ":kind/7", true),
            ("boat/:id", "boat/:id/crew", false),
            ("boat/active", "boat/idle", false),
        ] {
            assert_eq!(read(one).overlaps(&read(two)), expected, "{one} {two}");
        }
    }
}
