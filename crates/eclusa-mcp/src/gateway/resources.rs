//! The resources and prompts of a server, as clients see them; and whose is whose.

use std::{collections::HashSet, sync::Arc};

use eclusa::settings::ServerSettings;
use rmcp::{
    RoleClient,
    model::{Icon, MetaObject, PaginatedRequestParams, Prompt, Resource, ResourceTemplate},
    service::{Peer, ServiceError},
};

use super::{
    Gateway, icons,
    names::{not_this_servers, tool_name},
    notifications::Notification,
    sanitize::sanitize,
    tools::pages,
    upstream::Upstream,
};
use crate::uris::OWN_SCHEME;

/// The resources, templates and prompts of a server.
#[derive(Default, Clone, PartialEq)]
pub(super) struct ResourceCatalogue {
    resources: Vec<Resource>,
    templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
    /// What of it nobody gets, and why.
    withheld: Vec<String>,
}

impl Upstream {
    /// Has the server tell its resources and prompts. One that cannot has none.
    pub(super) async fn refresh_resources(self: &Arc<Upstream>, peer: &Peer<RoleClient>) {
        let Some(info) = peer.peer_info() else { return };
        let (mut catalogue, server) = (ResourceCatalogue::default(), &self.settings);
        if info.capabilities.resources.is_some() {
            catalogue.resources = self.had(pages(|at| resources(peer, at)).await);
            catalogue.templates = self.had(pages(|at| templates(peer, at)).await);
            catalogue.resources.retain(|it| !it.uri.starts_with(OWN_SCHEME));
            catalogue.resources.iter_mut().for_each(|it| tidy_resource(it, server));
            catalogue.templates.iter_mut().for_each(|it| tidy_template(it, server));
        }
        if info.capabilities.prompts.is_some() {
            catalogue.prompts = self.had(pages(|at| prompts(peer, at)).await);
            catalogue.prompts.iter_mut().for_each(|it| tidy_prompt(it, server));
            catalogue.prompts.retain(|it| {
                let name = self.prompt_name(&it.name);
                let other = self.reads_like(&name);
                let why = other.map(|other| not_this_servers(&name, &server.name, other));
                catalogue.withheld.extend(why);
                other.is_none()
            });
        }
        let before = std::mem::replace(&mut *self.catalogue(), catalogue.clone());
        if before.prompts != catalogue.prompts {
            self.spread(Notification::Prompts);
        }
        if before.resources != catalogue.resources || before.templates != catalogue.templates {
            self.spread(Notification::Resources);
        }
    }

    fn had<T>(&self, told: Result<Vec<T>, String>) -> Vec<T> {
        told.unwrap_or_else(|why| {
            tracing::warn!(server = self.settings.name, "a list could not be had: {why}");
            Vec::new()
        })
    }

    /// What of its resources and prompts nobody gets, and why.
    pub(super) fn withheld(&self) -> Vec<String> {
        self.catalogue().withheld.clone()
    }

    /// What a prompt is called here.
    fn prompt_name(&self, original: &str) -> String {
        match self.world.plain {
            true => original.to_owned(),
            false => tool_name(&self.settings.name, original),
        }
    }
}

impl Gateway {
    /// The resources of all servers. Of two servers that have one address, the first keeps it.
    pub(crate) fn resources(&self) -> Vec<Resource> {
        let mut taken = HashSet::new();
        let all = self.servers.iter().flat_map(|it| it.catalogue().resources.clone());
        let mut first = |it: &Resource| {
            let first = taken.insert(it.uri.clone());
            if !first {
                tracing::warn!(uri = it.uri, "two servers have this address: the first keeps it");
            }
            first
        };
        all.filter(|it| first(it)).collect()
    }

    /// The same for templates.
    pub(crate) fn templates(&self) -> Vec<ResourceTemplate> {
        let mut taken = HashSet::new();
        let all = self.servers.iter().flat_map(|it| it.catalogue().templates.clone());
        all.filter(|it| taken.insert(it.uri_template.clone())).collect()
    }

    /// The prompts of all servers, under the names that they have here.
    pub(crate) fn prompts(&self) -> Vec<Prompt> {
        let of = |it: &Arc<Upstream>| {
            let named = |prompt: &Prompt| {
                let mut named = prompt.clone();
                named.name = it.prompt_name(&prompt.name);
                named
            };
            it.catalogue().prompts.iter().map(named).collect::<Vec<_>>()
        };
        self.servers.iter().flat_map(of).collect()
    }

    /// Whose resource this is: of the first that lists it, or has a template for it. Where there is
    /// but one server, it is asked about any.
    pub(super) fn resource_owner(&self, uri: &str) -> Option<&Arc<Upstream>> {
        if uri.starts_with(OWN_SCHEME) {
            return None;
        }
        let lists = |it: &&Arc<Upstream>| it.catalogue().resources.iter().any(|it| it.uri == uri);
        let has = |it: &&Arc<Upstream>| {
            it.catalogue().templates.iter().any(|it| fits(&it.uri_template, uri))
        };
        let only = || self.servers.first().filter(|it| it.world.plain);
        self.servers.iter().find(lists).or_else(|| self.servers.iter().find(has)).or_else(only)
    }

    /// Whose template this is.
    pub(super) fn template_owner(&self, template: &str) -> Option<&Arc<Upstream>> {
        let has = |it: &&Arc<Upstream>| {
            it.catalogue().templates.iter().any(|it| it.uri_template == template)
        };
        self.servers.iter().find(has).or_else(|| self.resource_owner(template))
    }

    /// Whose prompt this is, and what it is called there.
    pub(super) fn prompt_owner(&self, name: &str) -> Option<(&Arc<Upstream>, String)> {
        self.servers.iter().find_map(|it| {
            let catalogue = it.catalogue();
            let prompt =
                catalogue.prompts.iter().find(|prompt| it.prompt_name(&prompt.name) == name)?;
            Some((it, prompt.name.clone()))
        })
    }

    /// The addresses that a server has although another had them before: nobody gets them from it.
    pub(super) fn shadowed_uris(&self, server: &Upstream) -> Vec<String> {
        let mine: HashSet<String> =
            server.catalogue().resources.iter().map(|it| it.uri.clone()).collect();
        let before = self.servers.iter().take_while(|it| !std::ptr::eq(&raw const ***it, server));
        let theirs: HashSet<String> = before
            .flat_map(|it| {
                it.catalogue().resources.iter().map(|it| it.uri.clone()).collect::<Vec<_>>()
            })
            .collect();
        mine.intersection(&theirs).cloned().collect()
    }
}

/// Whether an address can be made from a template: its fixed parts are there, in order.
fn fits(template: &str, uri: &str) -> bool {
    let mut parts = template.split('{');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = uri.strip_prefix(first).filter(|_| !first.is_empty()) else {
        return false;
    };
    for part in parts {
        let fixed = part.split_once('}').map(|(_, fixed)| fixed).unwrap_or_default();
        match rest.find(fixed) {
            Some(at) => rest = rest.get(at + fixed.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    template.ends_with('}') || rest.is_empty()
}

fn tidy(text: &mut Option<String>) {
    *text = text.take().map(|it| sanitize(&it));
}

fn dress(icons: &mut Option<Vec<Icon>>, meta: &mut Option<MetaObject>, server: &ServerSettings) {
    *icons = icons::icons(icons.as_deref(), server);
    *meta = icons::meta(meta.as_ref(), server);
}

fn tidy_resource(it: &mut Resource, server: &ServerSettings) {
    it.name = sanitize(&it.name);
    tidy(&mut it.title);
    tidy(&mut it.description);
    dress(&mut it.icons, &mut it.meta, server);
}

fn tidy_template(it: &mut ResourceTemplate, server: &ServerSettings) {
    it.name = sanitize(&it.name);
    tidy(&mut it.title);
    tidy(&mut it.description);
    dress(&mut it.icons, &mut it.meta, server);
}

fn tidy_prompt(it: &mut Prompt, server: &ServerSettings) {
    tidy(&mut it.title);
    tidy(&mut it.description);
    for argument in it.arguments.iter_mut().flatten() {
        tidy(&mut argument.title);
        tidy(&mut argument.description);
    }
    dress(&mut it.icons, &mut it.meta, server);
}

type ResourcePage<T> = Result<(Vec<T>, Option<String>), ServiceError>;

async fn resources(peer: &Peer<RoleClient>, at: PaginatedRequestParams) -> ResourcePage<Resource> {
    peer.list_resources(Some(at)).await.map(|it| (it.resources, it.next_cursor))
}

async fn templates(
    peer: &Peer<RoleClient>,
    at: PaginatedRequestParams,
) -> ResourcePage<ResourceTemplate> {
    let told = peer.list_resource_templates(Some(at)).await;
    told.map(|it| (it.resource_templates, it.next_cursor))
}

async fn prompts(peer: &Peer<RoleClient>, at: PaginatedRequestParams) -> ResourcePage<Prompt> {
    peer.list_prompts(Some(at)).await.map(|it| (it.prompts, it.next_cursor))
}

#[cfg(test)]
mod tests;
