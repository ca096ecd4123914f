"""What surrounds an event: branch reads, forks, relationships, lineage."""
