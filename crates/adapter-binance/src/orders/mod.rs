//! Orders of the account at the venue: in its words and back, their executions, and questions about them.

pub mod client_id;
pub mod order_mapping;
pub mod executions;
pub mod order_picture;
pub mod leg_owners;
pub mod external_orders;
pub mod fills_question;
pub mod order_lists;
pub mod inquiry;
pub(crate) mod waiting_inquiries;
