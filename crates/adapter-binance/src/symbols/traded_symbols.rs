//! The symbols that orders were sent for, kept over restarts: after a log-on their orders and trades are listed, since the venue
//! lists neither without a symbol.

use std::io;

use adapter_kit::KeptText;

/// Symbols whose orders are listed after a log-on; beyond it the one that was traded first is left to inquiries.
pub const TRADED_SYMBOLS_MAX: usize = 50;

pub struct TradedSymbols {
    text: KeptText,
    /// The newest last.
    symbols: Vec<String>,
}

impl TradedSymbols {
    pub fn open(text: KeptText) -> io::Result<Self> {
        let known = text.read()?.unwrap_or_default();
        let lines = known.lines().map(str::trim).filter(|line| !line.is_empty());
        Ok(Self { symbols: lines.map(ToOwned::to_owned).collect(), text })
    }

    /// To be called before an order leaves; writes only where the symbol is new.
    pub fn add(&mut self, symbol: &str) -> io::Result<()> {
        if self.symbols.iter().any(|known| known == symbol) {
            return Ok(());
        }
        let mut symbols = self.symbols.clone();
        symbols.push(symbol.to_owned());
        let surplus = symbols.len().saturating_sub(TRADED_SYMBOLS_MAX);
        symbols.drain(..surplus);
        self.text.write(&(symbols.join("\n") + "\n"))?;
        self.symbols = symbols;
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.symbols.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_kept_over_a_restart_and_the_oldest_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("MAIN.symbols");
        let mut traded = TradedSymbols::open(KeptText::file(&path)).unwrap();
        traded.add("币安人生USDT").unwrap();
        for number in 0..TRADED_SYMBOLS_MAX {
            traded.add(&format!("S{number}")).unwrap();
            traded.add(&format!("S{number}")).unwrap();
        }
        let again = TradedSymbols::open(KeptText::file(&path)).unwrap();
        assert_eq!(again.symbols, traded.symbols);
        assert_eq!((again.symbols.len(), again.symbols[0].as_str()), (TRADED_SYMBOLS_MAX, "S0"));
    }
}
