//! Which applications an observer looks at: all of them, or those that it has subscribed to. Of the others it is told
//! nothing, so what becomes of their instances is no observation of it, and no mistake.
//!
//! An application's processes look at the same ones. So an observer keeps the number of its *scope*, and what is worked
//! out about a change of view is worked out once for each scope.

use crate::model::id::{AppId, InstanceId};

/// What a client looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedServices<'a> {
    /// Nothing that counts: it does not look others up, or its views are not to be recorded.
    Nothing,
    /// Every application.
    Everything,
    /// These applications only.
    Services(&'a [AppId]),
}

/// The number of what an observer looks at.
pub(super) type Scope = u32;

/// The scope of whoever looks at everything; servers do.
pub(super) const EVERYTHING: Scope = 0;

/// What of it was never told.
const UNKNOWN: AppId = AppId(u32::MAX);

/// All scopes of a replicate, and the application that each instance is of.
#[derive(Clone)]
pub(super) struct Scopes {
    /// By number, in ascending order; `None`: everything.
    known: Vec<Option<Box<[AppId]>>>,
    /// By instance.
    apps: Vec<AppId>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { known: vec![None], apps: Vec::new() }
    }
}

impl Scopes {
    /// The number of the scope of whoever looks at these applications.
    pub(super) fn number_of(&mut self, services: &[AppId]) -> Scope {
        let mut services = services.to_vec();
        services.sort_unstable();
        let wanted = Some(services.into_boxed_slice());
        // Clients come by application, so it is nearly always the last.
        let number = self.known.iter().rposition(|scope| *scope == wanted).unwrap_or_else(|| {
            self.known.push(wanted);
            self.known.len() - 1
        });
        number as Scope
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// An instance is one of this application.
    pub(super) fn set_app(&mut self, instance: InstanceId, app: AppId) {
        if self.apps.len() <= instance.index() {
            self.apps.resize(instance.index() + 1, UNKNOWN);
        }
        self.apps[instance.index()] = app;
    }

    /// Whether whoever has this scope looks at an instance.
    pub(super) fn sees(&self, scope: Scope, instance: InstanceId) -> bool {
        match &self.known[scope as usize] {
            None => true,
            Some(services) => services.binary_search(&self.app_of(instance)).is_ok(),
        }
    }

    /// Whether just those look at the one that look at the other.
    pub(super) fn sees_alike(&self, one: InstanceId, other: InstanceId) -> bool {
        self.app_of(one) == self.app_of(other)
            || (1..self.known.len() as Scope).all(|scope| self.sees(scope, one) == self.sees(scope, other))
    }

    fn app_of(&self, instance: InstanceId) -> AppId {
        self.apps.get(instance.index()).copied().unwrap_or(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_the_same_however_often_it_is_named() {
        let mut scopes = Scopes::default();
        let [orders, stock, mail] = [0, 1, 2].map(AppId);
        let [some, more] = [&[orders][..], &[stock, orders]].map(|services| scopes.number_of(services));
        assert_eq!((some, more), (1, 2));
        assert_eq!((scopes.number_of(&[orders]), scopes.number_of(&[orders, stock])), (some, more));
        for (instance, app) in [(0, orders), (1, stock), (2, mail), (3, orders)] {
            scopes.set_app(InstanceId(instance), app);
        }
        let seen =
            |scope| (0..4).filter(|&number| scopes.sees(scope, InstanceId(number))).collect::<Vec<_>>();
        assert_eq!([seen(EVERYTHING), seen(some), seen(more)], [vec![0, 1, 2, 3], vec![0, 3], vec![0, 1, 3]]);
        assert!(scopes.sees_alike(InstanceId(0), InstanceId(3)));
        assert!(!scopes.sees_alike(InstanceId(0), InstanceId(1)), "one observer looks at orders alone");
    }
}
