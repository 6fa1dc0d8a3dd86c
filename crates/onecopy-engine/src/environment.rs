//! Settings of object stores from the caller. Some are secrets, so no value is ever printed.

use std::fmt;

/// Names and values of settings, under the names of the usual environment variables (`AWS_ACCESS_KEY_ID`, ...).
/// `Debug` prints the names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    settings: Vec<(String, String)>,
}

impl Environment {
    /// The settings, in their order.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, (String, String)> {
        self.settings.iter()
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(settings: I) -> Environment {
        Environment { settings: settings.into_iter().collect() }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_list().entries(self.settings.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparing, ImportJob, Job};

    #[test]
    fn no_debug_prints_a_secret() {
        let environment: Environment =
            [("AWS_SECRET_ACCESS_KEY".into(), "hunter2".into())].into_iter().collect();
        let job = Job { environment: environment.clone(), ..Job::new(["a"], "out") };
        let comparing = Comparing { environment: environment.clone(), ..Comparing::default() };
        let import = ImportJob {
            inputs: Vec::new(),
            data: "data".into(),
            spool: "spool".into(),
            fields: Default::default(),
            limits: Default::default(),
            environment: environment.clone(),
            threads: 1,
        };
        let plan = crate::plan_import(&import, &crate::Silent).unwrap();
        for text in
            [format!("{job:#?}"), format!("{comparing:?}"), format!("{import:?}"), format!("{plan:?}")]
        {
            assert!(text.contains("AWS_SECRET_ACCESS_KEY") && !text.contains("hunter2"), "{text}");
        }
    }
}
