// SPDX-License-Identifier: Apache-2.0
//! candle's products for `wick bench gemm`. It speaks as bench/peers/gemm_peer.h describes.
use candle_core::{DType, Device, Tensor};
use std::io::{BufRead, Write};
use std::time::Instant;

const SAMPLES: u32 = 64;
/// Seconds: longer calls are not repeated to see how long they take.
const LONG_CALL: f64 = 0.5;

/// As in bench/gemm_operands.h.
fn mix(seed: u32, i: u32) -> u32 {
    let mut x = i
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add(seed.wrapping_mul(0x7F4A_7C15));
    x ^= x >> 15;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^ (x >> 13)
}

fn operand(seed: u32, shape: &[usize], dtype: DType) -> candle_core::Result<Tensor> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count as u32)
        .map(|i| ((mix(seed, i) & 255) as f32 - 128.0) / 128.0)
        .collect();
    Tensor::from_vec(values, shape, &Device::Cpu)?.to_dtype(dtype)
}

struct Product {
    a: Tensor,
    b: Tensor,
}

impl Product {
    fn new(words: &[&str]) -> Result<Product, String> {
        let [dtype, m, n, k, batch, layout] = words else {
            return Err("wanted DTYPE M N K BATCH LAYOUT".into());
        };
        let dtype = match *dtype {
            "f32" => DType::F32,
            "f64" => DType::F64,
            "f16" => DType::F16,
            "bf16" => DType::BF16,
            other => return Err(format!("no {other}")),
        };
        let size = |text: &str| text.parse::<usize>().map_err(|e| e.to_string());
        let (m, n, k, batch) = (size(m)?, size(n)?, size(k)?, size(batch)?);
        let transposed = *layout == "T";
        let with_batch = |rows, columns| if batch == 1 { vec![rows, columns] } else { vec![batch, rows, columns] };
        let make = || -> candle_core::Result<Product> {
            let a = operand(1, &with_batch(m, k), dtype)?;
            let b = if transposed {
                operand(2, &with_batch(n, k), dtype)?.transpose(candle_core::D::Minus1, candle_core::D::Minus2)?
            } else {
                operand(2, &with_batch(k, n), dtype)?
            };
            Ok(Product { a, b })
        };
        make().map_err(|e| e.to_string())
    }

    fn call(&self) -> Result<Tensor, String> {
        self.a.matmul(&self.b).map_err(|e| e.to_string().lines().next().unwrap_or("?").to_string())
    }
}

/// "values SECONDS V...": what the second call took, and sample elements of the result.
fn check(product: &Product) -> Result<String, String> {
    let mut start = Instant::now();
    let mut c = product.call()?;
    let mut seconds = start.elapsed().as_secs_f64();
    if seconds < LONG_CALL {
        start = Instant::now();
        c = product.call()?;
        seconds = start.elapsed().as_secs_f64();
    }
    let c: Vec<f64> = c
        .flatten_all()
        .and_then(|c| c.to_dtype(DType::F64))
        .and_then(|c| c.to_vec1())
        .map_err(|e| e.to_string())?;
    let total = c.len();
    let mut line = format!("values {seconds:.9}");
    for s in 0..SAMPLES {
        let place = match s {
            0 => 0,
            1 => total - 1,
            _ => mix(3, s) as usize % total,
        };
        line += &format!(" {:e}", c[place]);
    }
    Ok(line)
}

/// For how long the threads of this process could run but had no CPU.
fn waited() -> f64 {
    let mut total = 0.0;
    if let Ok(tasks) = std::fs::read_dir("/proc/self/task") {
        for task in tasks.flatten() {
            let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            total += text.split_whitespace().nth(1).and_then(|w| w.parse::<f64>().ok()).unwrap_or(0.0);
        }
    }
    total / 1e9
}

fn run(product: &Product, calls: u32) -> Result<String, String> {
    let waited_before = waited();
    let start = Instant::now();
    for _ in 0..calls {
        std::hint::black_box(product.call()?);
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(format!("seconds {seconds:.9} {:.9}", (waited() - waited_before).max(0.0)))
}

fn main() {
    println!("ready candle-core 0.11.1");
    let mut product: Option<Product> = None;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match (words.first().copied(), &product) {
            (Some("case"), _) => {
                product = None;
                Product::new(&words[1..]).and_then(|p| {
                    let line = check(&p);
                    product = Some(p);
                    line
                }).unwrap_or_else(|e| format!("refused {e}"))
            }
            (Some("run"), Some(p)) => {
                let calls = words.get(1).and_then(|w| w.parse().ok()).unwrap_or(1);
                run(p, calls).unwrap_or_else(|e| format!("error {e}"))
            }
            _ => format!("error unknown command {line}"),
        };
        println!("{answer}");
        std::io::stdout().flush().ok();
    }
}
