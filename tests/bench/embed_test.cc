// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "bench/embed_cases.h"
#include "bench/embed_peer.h"
#include "tests/test_files.h"
#include "wick/base/error.h"

namespace wick::bench {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::SizeIs;

models::BertConfig tiny() {
  models::BertConfig c;
  c.vocab_size = 50;
  c.hidden_size = 4;
  c.intermediate = 8;
  c.layers = 3;
  c.heads = 2;
  return c;
}

TEST(EmbedCases, CountsTheProductsOfRealTokens) {
  // Per layer and token: query, key, value and output 4 x 4 each, up and down 4 x 8 each; per
  // sentence the scores and the sum over values, L x L x 4 each. Twice that, three layers.
  const double token = 4 * 16 + 2 * 32, attention = 2 * 4;
  EXPECT_EQ(encoder_flops(tiny(), make_sentences({5}, 50)), 2 * 3 * (5 * token + 25 * attention));
  EXPECT_EQ(encoder_flops(tiny(), make_sentences({5, 2}, 50)),
            2 * 3 * (7 * token + (25 + 4) * attention));
  EXPECT_EQ(encoder_flops(tiny(), {}), 0);
}

TEST(EmbedCases, TheModelAsPublished) {
  models::BertConfig c;
  c.hidden_size = 384;
  c.intermediate = 1536;
  c.layers = 6;
  const double linear = 2.0 * 6 * (4 * 384 * 384 + 2 * 384 * 1536);
  const Sentences one = make_sentences({16}, 30522);
  EXPECT_EQ(encoder_flops(c, one), 16 * linear + 2.0 * 6 * 2 * 16 * 16 * 384);
  const Case what = encoder_case("encoder", c, make_sentences({16, 32}, 30522), 2);
  EXPECT_THAT(what.shape, ElementsAre(2, 32));
  EXPECT_EQ(what.threads, 2);
  EXPECT_EQ(what.limit, Limit::fma_f32);
  EXPECT_GT(what.bytes, 4 * linear / 2);
}

TEST(EmbedCases, Sentences) {
  const Sentences sentences = make_sentences({3, 40}, 50);
  ASSERT_THAT(sentences, SizeIs(2));
  EXPECT_THAT(sentences[0], SizeIs(3));
  EXPECT_THAT(sentences[1], Each(Lt(50U)));
  EXPECT_EQ(sentences, make_sentences({3, 40}, 50));
  EXPECT_THAT(even_lengths(4, 8, 128), ElementsAre(8, 48, 88, 128));
  EXPECT_THAT(even_lengths(1, 8, 128), ElementsAre(8));
}

/// A peer whose library is a script of a few lines.
class EmbedPeerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import sys' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  }
  EmbedPeer peer(const std::string& text, const std::string& engine = "fake") {
    const auto path = folder_ / "peer.py";
    std::ofstream(path) << "import sys, struct\n"
                           "def say(text):\n"
                           "    sys.stdout.buffer.write(text.encode() + b'\\n')\n"
                           "    sys.stdout.buffer.flush()\n"
                        << text;
    return EmbedPeer({"python3", path.string()}, engine, "model", {0});
  }

 private:
  testing::ScratchFolder folder_;
};

constexpr const char* kFake = R"(
say("ready fake " + " ".join(sys.argv[1:]))
for line in sys.stdin:
    words = line.split()
    if words[0] == "tokens":
        values = [float(w.strip(";")) for w in line[7:].replace(";", " ").split()]
        say("hidden %d" % (8 * len(values)))
        for v in values:
            sys.stdout.buffer.write(struct.pack("<ff", v, -v))
        sys.stdout.buffer.flush()
    elif words[1] == "7":
        say("error seven is   too much")
    elif words[1] == "8":
        say("seconds soon")
    elif words[1] == "9":
        sys.exit(1)
    else:
        say("seconds %f 0.125" % (0.25 * int(words[1])))
)";

std::string message(EmbedPeer& peer, int calls) {
  try {
    peer.run(calls);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

TEST_F(EmbedPeerTest, SpeaksTheProtocol) {
  EmbedPeer fake = peer(kFake);
  EXPECT_EQ(fake.missing(), "");
  EXPECT_EQ(fake.version(), "fake fake model 1");
  EXPECT_THAT(fake.set_tokens({{3, 1}, {2}}, 2), ElementsAre(3, -3, 1, -1, 2, -2));
  EXPECT_EQ(fake.run(3), 0.75);
  EXPECT_EQ(fake.waited(), 0.125);
  EXPECT_THAT(message(fake, 7), HasSubstr("seven is"));
  EXPECT_EQ(fake.run(1), 0.25);
  EXPECT_THAT(message(fake, 8), HasSubstr("wanted two times, got \"soon\""));
  EXPECT_THAT(message(fake, 9), HasSubstr("ended"));
  EXPECT_THAT(message(fake, 1), HasSubstr("ended"));
}

TEST_F(EmbedPeerTest, WrongSizes) {
  EmbedPeer fake = peer(kFake);
  EXPECT_THROW(fake.set_tokens({{3, 1}}, 3), Error);
}

TEST_F(EmbedPeerTest, SaysWhatIsMissing) {
  EXPECT_EQ(peer("say('missing torch')").missing(), "torch");
  EXPECT_THAT(peer("sys.exit(3)").missing(), HasSubstr("peer.py"));
  EXPECT_THAT(peer("say('hello')").missing(), HasSubstr("hello"));
}

TEST_F(EmbedPeerTest, TheScriptOfThePeersStarts) {
  EmbedPeer none({"python3", (testing::source_root() / "bench/peers/embed_peer.py").string()},
                 "pytorch", "/nonexistent", {0});
  EXPECT_NE(none.missing(), "");
}

TEST(EmbedPeer, NoInterpreter) {
  EXPECT_THROW(EmbedPeer({"/nonexistent/python", "x.py"}, "fake", "model", {0}), Error);
}

}  // namespace
}  // namespace wick::bench
