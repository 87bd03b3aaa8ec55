//! The data folder of a member, outside of the cluster.

use std::path::Path;

use storage::replication::is_member_folder;

use crate::exit_failure::{Exit, ExitFailure};

/// Refuses to write alone into the folder of a member: the other members would not have it, and the log would go on differently, which
/// locks the member out.
pub(crate) fn refuse_alone(data_folder: &Path) -> Result<(), ExitFailure> {
    if !is_member_folder(data_folder) {
        return Ok(());
    }
    let folder = data_folder.display();
    let reason = format!(
        "{folder} belongs to a member of a cluster (it has the file replication): start it with --cluster; users and tokens are \
         changed at the leader"
    );
    Err(ExitFailure::new(Exit::Refused, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_member_is_not_used_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(refuse_alone(folder.path()).is_ok());
        std::fs::write(folder.path().join("replication"), b"").unwrap();
        let refused = refuse_alone(folder.path()).unwrap_err();
        assert_eq!(refused.exit, Exit::Refused);
        assert!(refused.to_string().contains("belongs to a member of a cluster"), "{refused}");
    }
}
