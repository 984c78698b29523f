//! The remotes of a repository, each with the host and the repository name that its forge uses.

use remand_git::{GitError, Repository};

/// A remote whose address names a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub name: String,
    pub host: String,
    /// Owner and name, such as `ada/shop`.
    pub repository: String,
}

impl Remote {
    /// The remotes of a repository, `origin` first.
    pub fn all(repository: &Repository) -> Result<Vec<Remote>, GitError> {
        let addresses = repository.remotes()?;
        let remotes = addresses.into_iter().filter_map(|(name, address)| Remote::at(&name, &address));
        let mut remotes: Vec<Remote> = remotes.collect();
        remotes.sort_by_key(|remote| remote.name != "origin");
        Ok(remotes)
    }

    /// Reads `https://host/owner/name.git`, `ssh://git@host:22/owner/name` and `git@host:owner/name`.
    fn at(name: &str, address: &str) -> Option<Remote> {
        let (authority, path) = match address.split_once("://") {
            Some((_, rest)) => rest.split_once('/')?,
            None => address.split_once(':')?,
        };
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = host.split(':').next().filter(|host| host.contains('.') && !host.contains('/'))?;
        let repository = path.trim_matches('/').trim_end_matches(".git");
        repository.contains('/').then(|| Remote {
            name: name.to_string(),
            host: host.to_ascii_lowercase(),
            repository: repository.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_all_forms_name_host_and_repository() {
        for address in [
            "https://github.com/ada/shop.git",
            "https://ada:token@GitHub.com/ada/shop",
            "git@github.com:ada/shop.git",
            "ssh://git@github.com:22/ada/shop.git",
        ] {
            let remote = Remote::at("origin", address).map(|remote| (remote.host, remote.repository));
            assert_eq!(remote, Some(("github.com".to_string(), "ada/shop".to_string())), "{address}");
        }
        for other in ["/srv/git/shop.git", "../shop", "file:///srv/git/shop.git", "C:/git/shop"] {
            assert_eq!(Remote::at("origin", other), None, "{other}");
        }
    }
}
