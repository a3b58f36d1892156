#include "gih/app/shared_training.hpp"

#include <memory>
#include <vector>

#include "gih/app/config.hpp"
#include "gih/data/shared_prompts.hpp"
#include "gih/model/chunk_helper.hpp"

namespace gih {

void order_drawing(Ranks& ranks, const std::string& config, Split split) {
  Order order{Order::draw, static_cast<std::int32_t>(split)};
  broadcast(ranks, order);
  std::string text = config;
  broadcast_text(ranks, text);
}

void release(Ranks& ranks, int status) {
  Order order{Order::end, status};
  broadcast(ranks, order);
}

int help_train(Ranks& ranks, const std::function<bool()>& goes_on) {
  std::string config;
  Settings settings;
  std::vector<std::unique_ptr<ChunkHelper>> helpers;  // by engine
  for (;;) {
    Order order{};
    broadcast(ranks, order);
    switch (order.kind) {
      case Order::end:
        return order.number;
      case Order::draw:
        broadcast_text(ranks, config);
        send_prompts(ranks, [&] {
          settings = resolve(read_ini(config, "the configuration of rank 0"));
          const auto split = static_cast<Split>(order.number);
          const Share share = share_of(settings.data.count(split), ranks.count(), ranks.rank());
          return build_prompts(settings.data, settings.prompts, split, share,
                               settings.thread_count(), [&](std::size_t) { return goes_on(); });
        });
        break;
      case Order::take:
        helpers.push_back(
            std::make_unique<ChunkHelper>(ranks, settings.loss(), settings.thread_count()));
        break;
      case Order::pass:
        helpers.at(static_cast<std::size_t>(order.number))->help(order);
        break;
    }
  }
}

}  // namespace gih
