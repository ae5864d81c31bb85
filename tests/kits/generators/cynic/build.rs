//! Registers each schema of the folder SCHEMAS with cynic, and writes the structs of its operations in the folder OPERATIONS.

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    for it in ["SCHEMAS", "OPERATIONS"] {
        println!("cargo::rerun-if-env-changed={it}");
    }
    let (schemas, operations, out) = (env::var("SCHEMAS")?, env::var("OPERATIONS")?, env::var("OUT_DIR")?);
    for name in ["tables", "native", "relay"] {
        let (schema, asked) = (format!("{schemas}/{name}.graphql"), format!("{operations}/{name}.graphql"));
        println!("cargo::rerun-if-changed={asked}");
        cynic_codegen::register_schema(name).from_sdl_file(&schema)?;
        let mut generator = cynic_querygen::Generator::new(fs::read_to_string(&schema)?)?.with_schema_name(name);
        if name == "tables" {
            // The scalar that it writes by itself holds a text.
            generator.set_override("Track.UnitPrice", "super::Price")?;
        }
        let text = generator.generate(fs::read_to_string(&asked)?)?;
        // A null is no id, and an object that names one cannot be new.
        let text = text.replace("    pub cid: Option", "    #[cynic(skip_serializing_if = \"Option::is_none\")]\n    pub cid: Option");
        fs::write(format!("{out}/{name}.rs"), add_lifetimes(text))?;
    }
    Ok(())
}

/// Adds the lifetimes which the generator leaves out of input objects that refer to each other in a circle:
/// findings/cynic-querygen-circles.sh.
fn add_lifetimes(text: String) -> String {
    let mut blocks: Vec<String> = text.split("pub struct ").map(str::to_owned).collect();
    loop {
        let names: Vec<String> = blocks.iter().filter_map(|it| Some(it.split_once("<'a> {")?.0.to_owned())).collect();
        let before = blocks.clone();
        for block in &mut blocks[1..] {
            for name in &names {
                *block = block.replace(&format!("<{name}>"), &format!("<{name}<'a>>")).replace(&format!(": {name},"), &format!(": {name}<'a>,"));
            }
            let fields = block.split('}').next().unwrap_or_default();
            if fields.contains("'a") && !fields.contains("<'a> {") {
                *block = block.replacen(" {", "<'a> {", 1);
            }
        }
        if blocks == before {
            return blocks.join("pub struct ");
        }
    }
}
