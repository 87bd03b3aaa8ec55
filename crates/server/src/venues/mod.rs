//! Configured venues, their types, and the venue lab, from the command line.

pub mod venue_types;
pub mod venue_command;
pub mod venues_command;
pub mod venue_check;
pub mod venue_symbols;
pub mod venue_bars;
pub mod symbol_folder;
